#include "base/strbuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static void room(struct strbuf *sb, size_t extra)
{
	sb->text = array_grow(sb->text, &sb->capacity, sb->length + extra + 1, 1);
}

void strbuf_add(struct strbuf *sb, const char *bytes, size_t length)
{
	room(sb, length);
	if (length)
		memcpy(sb->text + sb->length, bytes, length);
	sb->length += length;
	sb->text[sb->length] = '\0';
}

void strbuf_puts(struct strbuf *sb, const char *text)
{
	strbuf_add(sb, text, strlen(text));
}

void strbuf_putc(struct strbuf *sb, char c)
{
	strbuf_add(sb, &c, 1);
}

void strbuf_pad(struct strbuf *sb, char c, size_t count)
{
	room(sb, count);
	memset(sb->text + sb->length, c, count);
	sb->length += count;
	sb->text[sb->length] = '\0';
}

void strbuf_vprintf(struct strbuf *sb, const char *fmt, va_list args)
{
	va_list again;
	va_copy(again, args);
	int n = vsnprintf(NULL, 0, fmt, args);
	if (n > 0) {
		room(sb, (size_t)n);
		vsnprintf(sb->text + sb->length, (size_t)n + 1, fmt, again);
		sb->length += (size_t)n;
	}
	va_end(again);
}

void strbuf_printf(struct strbuf *sb, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	strbuf_vprintf(sb, fmt, args);
	va_end(args);
}

void strbuf_clear(struct strbuf *sb)
{
	sb->length = 0;
	if (sb->text)
		sb->text[0] = '\0';
}

const char *strbuf_text(const struct strbuf *sb)
{
	return sb->text ? sb->text : "";
}

char *strbuf_detach(struct strbuf *sb)
{
	room(sb, 0);
	sb->text[sb->length] = '\0';
	char *text = sb->text;
	*sb = (struct strbuf){ 0 };
	return text;
}

char *xprintf(const char *fmt, ...)
{
	struct strbuf sb = { 0 };
	va_list args;
	va_start(args, fmt);
	strbuf_vprintf(&sb, fmt, args);
	va_end(args);
	return strbuf_detach(&sb);
}

void strbuf_release(struct strbuf *sb)
{
	free(sb->text);
	*sb = (struct strbuf){ 0 };
}
