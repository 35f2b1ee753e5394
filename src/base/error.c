#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *err, enum exit_code code, const char *fmt, ...)
{
	if (!err)
		return -1;
	va_list args;
	va_start(args, fmt);
	vsnprintf(err->text, sizeof err->text, fmt, args);
	va_end(args);
	err->code = code;
	err->hint[0] = '\0';
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
