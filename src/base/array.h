/* A growing array: ARRAY(int) list = {0}; array_push(&list, 7); array_release(&list). Running out
 * of memory ends the process: nothing useful can be done, and every execution so far is already
 * committed. */
#ifndef TARE_BASE_ARRAY_H
#define TARE_BASE_ARRAY_H

#include <stddef.h>

#include "base/scope.h"

#define ARRAY(type)                     \
	struct {                        \
		type *items;            \
		size_t count, capacity; \
	}

/* Makes room for `extra` more items. */
#define array_reserve(a, extra) \
	((a)->items =           \
		 array_grow((a)->items, &(a)->capacity, (a)->count + (extra), sizeof *(a)->items))

#define array_push(a, ...)                                \
	do {                                              \
		array_reserve(a, 1);                      \
		(a)->items[(a)->count++] = (__VA_ARGS__); \
	} while (0)

#define array_sort(a, by)                                                        \
	do {                                                                     \
		if ((a)->count)                                                  \
			qsort((a)->items, (a)->count, sizeof *(a)->items, (by)); \
	} while (0)

/* A loop over pointers to the items, of which none is added or taken meanwhile. */
/* NOLINTBEGIN(bugprone-macro-parentheses): a declaration */
#define array_each(item, a)                                                                        \
	for (__typeof__((a)->items + 0) item = (a)->items; item && item < (a)->items + (a)->count; \
	     item++)
/* NOLINTEND(bugprone-macro-parentheses) */

/* For such a `by`: the smaller first; ORDER(x->a, y->a) ?: ORDER(x->b, y->b) is by a, then by b. */
#define ORDER(x, y) (((x) > (y)) - ((x) < (y)))

/* How many of the items, sorted by the member, have one that is at most the value. */
#define array_count_up_to(a, member, value)                    \
	({                                                     \
		size_t low_ = 0, high_ = (a)->count;           \
		while (low_ < high_) {                         \
			size_t m_ = low_ + (high_ - low_) / 2; \
			if ((a)->items[m_].member <= (value))  \
				low_ = m_ + 1;                 \
			else                                   \
				high_ = m_;                    \
		}                                              \
		low_;                                          \
	})

/* Frees unused room, for many small arrays that stay. */
#define array_fit(a)                                                                        \
	do {                                                                                \
		if ((a)->count && (a)->count < (a)->capacity) {                             \
			(a)->capacity = (a)->count;                                         \
			(a)->items = xrealloc((a)->items, (a)->count * sizeof *(a)->items); \
		}                                                                           \
	} while (0)

#define array_release(a)                        \
	do {                                    \
		xfree((a)->items);              \
		(a)->items = NULL;              \
		(a)->count = (a)->capacity = 0; \
	} while (0)

void *array_grow(void *items, size_t *capacity, size_t wanted, size_t size);

/* Allocation that never returns NULL (see above). */
void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
void *xrealloc(void *p, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
char *xstrdup_or_null(const char *s); /* NULL of NULL */
char *xstrndup(const char *s, size_t n) __attribute__((malloc, returns_nonnull));
void xfree(void *p);
/* Copies and frees a list of texts that ends with NULL; NULL is an empty list. */
char **xstrdup_all(const char *const *texts) __attribute__((malloc, returns_nonnull));
void xfree_all(char **texts);

#endif
