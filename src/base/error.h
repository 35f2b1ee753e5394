/* Errors as values. Library code fills one and returns -1; only cmd/ prints it.
 * The text says what was attempted and what went wrong, the hint what to do. */
#ifndef TARE_BASE_ERROR_H
#define TARE_BASE_ERROR_H

enum exit_code {
	EXIT_DONE = 0,
	EXIT_CHECK = 1,	      /* measured, but a check the user asked for failed */
	EXIT_USAGE = 2,	      /* bad input */
	EXIT_ENVIRONMENT = 3, /* this machine lacks something required */
	EXIT_SUBJECT = 4,     /* the subject failed */
	EXIT_NOT_KNOWN = 5,   /* measured, but a check the user asked for has no sure answer yet */
	EXIT_INTERRUPTED = 130,
};

#define ERROR_TEXT 1024 /* bytes */

struct error {
	enum exit_code code; /* what the process should exit with */
	char text[ERROR_TEXT];
	char hint[512]; /* may be empty */
};

#define ERROR_INIT                                        \
	{                                                 \
		.code = EXIT_DONE, .text = "", .hint = "" \
	}

/* Sets text (and clears the hint); returns -1 so that callers can `return error_set(...)`. err may
 * be NULL. */
int error_set(struct error *err, enum exit_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Like error_set(), followed by ": " and the text of errno. */
int error_errno(struct error *err, enum exit_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Adds what the user can do about it; returns -1. */
int error_hint(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Puts "prefix: " before the text; returns -1. */
int error_prefix(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
