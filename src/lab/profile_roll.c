#include "lab/profile_rows.h"
int lab_roll_slices(struct lab *lab, int64_t run, const struct lab_roll *roll, uint64_t now_ns,
		    uint64_t *bytes, struct error *err)
{
	(void)lab, (void)run, (void)roll, (void)now_ns, (void)bytes, (void)err;
	return 0;
}
