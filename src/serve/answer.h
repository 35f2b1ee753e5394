/* Answers, shared by clients that asked the same. Private to serve/. */
#ifndef TARE_SERVE_ANSWER_H
#define TARE_SERVE_ANSWER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strbuf.h"

struct answer {
	atomic_uint users;
	unsigned status; /* of HTTP */
	bool gzip;
	char *bytes;
	size_t length;
};

/* Takes the text; has one user. gzip: compress it if that is worthwhile. */
struct answer *answer_new(unsigned status, struct strbuf *text, bool gzip);
struct answer *answer_error(unsigned status, const struct error *err); /* {"error", "hint"} */
struct answer *answer_share(struct answer *a);			       /* adds a user */
void answer_release(struct answer *a);				       /* NULL is fine */

#endif
