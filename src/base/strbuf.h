/* A growing NUL-terminated string: struct strbuf sb = {0}; text is NULL until something is
 * added. */
#ifndef TARE_BASE_STRBUF_H
#define TARE_BASE_STRBUF_H

#include <stdarg.h>
#include <stddef.h>

#include "base/scope.h"

struct strbuf {
	char *text;
	size_t length, capacity;
};

void strbuf_add(struct strbuf *sb, const char *bytes, size_t length);
void strbuf_puts(struct strbuf *sb, const char *text);
void strbuf_putc(struct strbuf *sb, char c);
void strbuf_printf(struct strbuf *sb, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void strbuf_vprintf(struct strbuf *sb, const char *fmt, va_list args)
	__attribute__((format(printf, 2, 0)));
void strbuf_pad(struct strbuf *sb, char c, size_t count);
void strbuf_clear(struct strbuf *sb);		  /* keeps the memory */
const char *strbuf_text(const struct strbuf *sb); /* never NULL */
char *strbuf_detach(struct strbuf *sb);		  /* the caller frees; never NULL */
void strbuf_release(struct strbuf *sb);

/* A newly allocated text. The caller frees it. */
char *xprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2), returns_nonnull));

#endif
