/* The list of runs that `tare serve` sends. Private to cmd/page/. */
#ifndef TARE_CMD_PAGE_SERVE_LIST_H
#define TARE_CMD_PAGE_SERVE_LIST_H

#include "base/strbuf.h"
#include "lab/lab.h"
#include "serve/request.h"

/* As JSON. Returns 0, or -1 with err set. */
int serve_list(struct lab *lab, const struct request *r, struct strbuf *out, struct error *err);

#endif
