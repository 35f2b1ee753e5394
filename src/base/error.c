#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 3, 0))) static void set(struct error *err, enum exit_code code,
						      const char *fmt, va_list args)
{
	vsnprintf(err->text, sizeof err->text, fmt, args);
	err->code = code;
	err->hint[0] = '\0';
}

int error_set(struct error *err, enum exit_code code, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	if (err)
		set(err, code, fmt, args);
	va_end(args);
	return -1;
}

int error_errno(struct error *err, enum exit_code code, const char *fmt, ...)
{
	const char *why = strerror(errno);
	va_list args;
	va_start(args, fmt);
	if (err) {
		set(err, code, fmt, args);
		size_t used = strlen(err->text);
		snprintf(err->text + used, sizeof err->text - used, ": %s", why);
	}
	va_end(args);
	return -1;
}

int error_hint(struct error *err, const char *fmt, ...)
{
	if (!err)
		return -1;
	va_list args;
	va_start(args, fmt);
	vsnprintf(err->hint, sizeof err->hint, fmt, args);
	va_end(args);
	return -1;
}

int error_prefix(struct error *err, const char *fmt, ...)
{
	if (!err)
		return -1;
	char prefix[512], text[sizeof err->text];
	va_list args;
	va_start(args, fmt);
	vsnprintf(prefix, sizeof prefix, fmt, args);
	va_end(args);
	memcpy(text, err->text, sizeof text);
	snprintf(err->text, sizeof err->text, "%s: %.*s", prefix,
		 (int)(sizeof err->text - sizeof prefix - 3), text);
	return -1;
}
