#include "cmd/page.h"

int cmd_page_noises(struct page *p, struct lab *lab, const id_list *runs, struct error *err)
{
	(void)p, (void)lab, (void)runs, (void)err;
	return 0;
}
