#include "measure/quiet.h"

const struct quiet_knob quiet_knobs[] = { { 0 } };
const char *quiet_state_name(enum quiet_state s)
{
	(void)s;
	return "";
}
void quiet_list_release(quiet_list *list)
{
	array_release(list);
}
int quiet_plan(const struct quiet_options *o, quiet_list *out, struct error *err)
{
	(void)o;
	(void)out;
	return error_set(err, EXIT_ENVIRONMENT, "not built");
}
int quiet_apply(const struct quiet_options *o, int owner, quiet_list *out, struct error *err)
{
	(void)o;
	(void)owner;
	(void)out;
	return error_set(err, EXIT_ENVIRONMENT, "not built");
}
int quiet_restore(const struct quiet_options *o, quiet_list *out, struct error *err)
{
	(void)o;
	(void)out;
	return error_set(err, EXIT_ENVIRONMENT, "not built");
}
int quiet_look(const struct quiet_options *o, struct quiet_status *out, struct error *err)
{
	(void)o;
	(void)err;
	*out = (struct quiet_status){ 0 };
	return 0;
}
