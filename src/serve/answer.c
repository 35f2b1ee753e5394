#include "serve/answer.h"

#include <jansson.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/array.h"
#include "base/text.h"

#define GZIP_FROM 1024 /* bytes */
#define GZIP_LEVEL 4   /* documents are numbers: more takes longer and gains little */

static bool compress_into(struct answer *a, const struct strbuf *text)
{
	z_stream z = { .next_in = (Bytef *)text->text, .avail_in = (uInt)text->length };
	if (text->length > UINT32_MAX / 2 ||
	    deflateInit2(&z, GZIP_LEVEL, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return false;
	size_t room = deflateBound(&z, (uLong)text->length);
	a->bytes = xmalloc(room);
	z.next_out = (Bytef *)a->bytes;
	z.avail_out = (uInt)room;
	bool done = deflate(&z, Z_FINISH) == Z_STREAM_END;
	a->length = room - z.avail_out;
	deflateEnd(&z);
	if (done)
		a->bytes = xrealloc(a->bytes, a->length);
	else
		xfree(a->bytes);
	return done;
}

struct answer *answer_new(unsigned status, struct strbuf *text, bool gzip)
{
	struct answer *a = xcalloc(1, sizeof *a);
	atomic_init(&a->users, 1);
	a->status = status;
	a->gzip = gzip && text->length >= GZIP_FROM && compress_into(a, text);
	if (a->gzip) {
		strbuf_release(text);
	} else {
		a->length = text->length;
		a->bytes = strbuf_detach(text);
	}
	return a;
}

static json_t *json_of(const char *text)
{
	FREED char *valid = text_utf8(text);
	return json_string(valid);
}

struct answer *answer_error(unsigned status, const struct error *err)
{
	json_auto_t *o = json_object();
	json_object_set_new(o, "error", json_of(err->text));
	json_object_set_new(o, "hint", json_of(err->hint));
	FREED char *dump = json_dumps(o, JSON_COMPACT);
	struct strbuf text = { 0 };
	strbuf_puts(&text, dump);
	return answer_new(status, &text, false);
}

struct answer *answer_share(struct answer *a)
{
	atomic_fetch_add(&a->users, 1);
	return a;
}

void answer_release(struct answer *a)
{
	if (!a || atomic_fetch_sub(&a->users, 1) != 1)
		return;
	free(a->bytes);
	free(a);
}
