#include "lab/lab.h"

int lab_begin_watch(struct lab *lab, int64_t machine, int64_t *watch, struct error *err)
{
	(void)lab;
	(void)machine;
	(void)watch;
	return error_set(err, EXIT_ENVIRONMENT, "not built");
}
int lab_add_bursts(struct lab *lab, int64_t watch, const struct bursts *b, uint64_t keep_bytes,
		   struct error *err)
{
	(void)lab;
	(void)watch;
	(void)b;
	(void)keep_bytes;
	return error_set(err, EXIT_ENVIRONMENT, "not built");
}
int lab_end_watch(struct lab *lab, int64_t watch, struct error *err)
{
	(void)lab;
	(void)watch;
	return error_set(err, EXIT_ENVIRONMENT, "not built");
}
int lab_list_watches(struct lab *lab, lab_watch_list *into, struct error *err)
{
	(void)lab;
	(void)into;
	(void)err;
	return 0;
}
int lab_get_bursts(struct lab *lab, const struct machine *m, int64_t watch, int64_t since_ns,
		   int64_t until_ns, bursts_list *into, struct error *err)
{
	(void)lab;
	(void)m;
	(void)watch;
	(void)since_ns;
	(void)until_ns;
	(void)into;
	(void)err;
	return 0;
}
int lab_remove_watch(struct lab *lab, int64_t watch, struct error *err)
{
	(void)lab;
	(void)watch;
	return error_set(err, EXIT_ENVIRONMENT, "not built");
}
