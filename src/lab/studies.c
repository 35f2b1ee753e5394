#include "lab/lab.h"

int lab_add_study_of_daemons(struct lab *lab, struct study *s, struct error *err)
{
	(void)lab;
	(void)s;
	return error_set(err, EXIT_ENVIRONMENT, "not built");
}
int lab_get_study_of_daemons(struct lab *lab, const struct machine *m, int64_t id, bool *found,
			     struct study *into, struct error *err)
{
	(void)lab;
	(void)m;
	(void)id;
	*found = false;
	(void)into;
	(void)err;
	return 0;
}
int lab_list_studies_of_daemons(struct lab *lab, lab_study_list *into, struct error *err)
{
	(void)lab;
	(void)into;
	(void)err;
	return 0;
}
int lab_remove_study_of_daemons(struct lab *lab, int64_t id, struct error *err)
{
	(void)lab;
	(void)id;
	return error_set(err, EXIT_ENVIRONMENT, "not built");
}
int lab_get_cutoffs(struct lab *lab, const struct machine *m, struct lab_cutoffs *into,
		    struct error *err)
{
	(void)lab;
	(void)m;
	(void)into;
	(void)err;
	return 0;
}
void lab_cutoffs_release(struct lab_cutoffs *c)
{
	array_release(&c->cutoffs);
	machine_release(&c->machine);
}
int lab_put_cutoff(struct lab *lab, const struct machine *m, struct cutoff *c, struct error *err)
{
	(void)lab;
	(void)m;
	(void)c;
	return error_set(err, EXIT_ENVIRONMENT, "not built");
}
int lab_remove_cutoff(struct lab *lab, const struct machine *m, int64_t id, struct error *err)
{
	(void)lab;
	(void)m;
	(void)id;
	return error_set(err, EXIT_ENVIRONMENT, "not built");
}
