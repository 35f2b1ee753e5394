/* A lab in a directory of its own, and numbers to fill it with: what the tests of lab/ share. */
#ifndef TARE_TESTS_LAB_FIXTURE_H
#define TARE_TESTS_LAB_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lab/lab.h"

extern char directory[64], path[128]; /* of the test at work */
extern struct error err;	      /* of the call last made */
extern uint64_t seed;		      /* of the random ones below */

int set_up(void **state);
int tear_down(void **state);

#define ok(call)                                                                 \
	do {                                                                     \
		err = (struct error)ERROR_INIT;                                  \
		if (call) {                                                      \
			print_error("%s: %s (%s)\n", #call, err.text, err.hint); \
			fail();                                                  \
		}                                                                \
	} while (0)

struct lab *open_lab(enum lab_mode mode);
void execute_sql(const char *sql);
/* The one integer that the statement gives. */
int64_t query(struct lab *lab, const char *sql);

/* A machine of that name, in the lab; the caller releases it. */
int64_t add_host(struct lab *lab, const char *host, const char *kernel, struct machine *m);
/* The call last made failed by its input (EXIT_USAGE) and says this. */
void assert_refused(int failed, const char *text);

uint64_t random_number(void);
/* Small numbers and huge ones, zero and the largest, too. */
uint64_t random_value(void);
/* Any bytes but NUL, up to the room there is. */
void random_name(char *name, size_t size);

#endif
