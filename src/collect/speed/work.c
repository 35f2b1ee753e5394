#include "collect/speed/work.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/array.h"
#include "base/clock.h"

#define LINE 64u
#define RING_BYTES (4u << 20) /* beyond most second-level caches */
#define RING_LINES (RING_BYTES / LINE)

/* How much of each: 0.7, 1.5 and 0.7 µs at 3 GHz, and 2 µs of loads from a shared cache.
 * A stored mean is compared with others of its kind only, so these must never change. */
#define CHAIN_TURNS 94
#define PORTS_TURNS 800
#define PORTS_WARM 100
#define TURNS 1500
#define LOADS 16

struct speed_ring {
	struct {
		uint32_t next;
		char rest[LINE - sizeof(uint32_t)];
	} line[RING_LINES];
};

struct speed_ring *speed_ring_new(void)
{
	struct speed_ring *r =
		mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r == MAP_FAILED)
		return NULL;
	madvise(r, sizeof *r, MADV_HUGEPAGE);
	/* Sattolo's shuffle: one cycle through all lines; any generator will do */
	uint64_t state = 88172645463325252u;
	for (uint32_t i = 0; i < RING_LINES; i++)
		r->line[i].next = i;
	for (uint32_t i = RING_LINES - 1; i > 0; i--) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		uint32_t j = (uint32_t)(state % i), was = r->line[i].next;
		r->line[i].next = r->line[j].next;
		r->line[j].next = was;
	}
	return r;
}

void speed_ring_free(struct speed_ring *r)
{
	if (r)
		munmap(r, sizeof *r);
}

/* Each block must be complete when the counter is read, and the next must not have begun. */
#if defined(__x86_64__)
static inline uint64_t ticks_now(void)
{
	uint32_t low, high;
	__asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}
#define MULTIPLY(x) __asm__ volatile("imul %0, %0" : "+r"(x))
#define COUNT_DOWN(n) __asm__ volatile(".p2align 6\n1:\tdec %0\n\tjnz 1b" : "+r"(n) : : "cc")
#define ADD_SIX(a, one)                                                                          \
	__asm__ volatile("add %6, %0\n\tadd %6, %1\n\tadd %6, %2\n\t"                            \
			 "add %6, %3\n\tadd %6, %4\n\tadd %6, %5"                                \
			 : "+r"((a)[0]), "+r"((a)[1]), "+r"((a)[2]), "+r"((a)[3]), "+r"((a)[4]), \
			   "+r"((a)[5])                                                          \
			 : "r"(one)                                                              \
			 : "cc")
#elif defined(__aarch64__)
static inline uint64_t ticks_now(void)
{
	uint64_t value;
	__asm__ volatile("dsb nsh\n\tisb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(value) : : "memory");
	return value;
}
#define MULTIPLY(x) __asm__ volatile("mul %0, %0, %0" : "+r"(x))
#define COUNT_DOWN(n) \
	__asm__ volatile(".p2align 6\n1:\tsubs %0, %0, #1\n\tb.ne 1b" : "+r"(n) : : "cc")
#define ADD_SIX(a, one)                                                                          \
	__asm__ volatile("add %0, %0, %6\n\tadd %1, %1, %6\n\tadd %2, %2, %6\n\t"                \
			 "add %3, %3, %6\n\tadd %4, %4, %6\n\tadd %5, %5, %6"                    \
			 : "+r"((a)[0]), "+r"((a)[1]), "+r"((a)[2]), "+r"((a)[3]), "+r"((a)[4]), \
			   "+r"((a)[5])                                                          \
			 : "r"(one))
#else
/* Without assembly of its own: the compiler's, with each step hidden from it. */
static inline uint64_t ticks_now(void)
{
	return clock_monotonic_ns();
}
#define MULTIPLY(x) ((x) *= (x), ({ __asm__ volatile("" : "+r"(x)); }))
#define COUNT_DOWN(n) \
	while (--(n)) \
	__asm__ volatile("" : "+r"(n))
#define ADD_SIX(a, one)                              \
	for (int six = 0; six < 6; six++) {          \
		a[six] += (one);                     \
		__asm__ volatile("" : "+r"(a[six])); \
	}
#endif

uint64_t speed_ticks(void)
{
	return ticks_now();
}

static __attribute__((noinline)) void fill_ports(uint32_t turns)
{
	uint64_t a[6] = { 1, 2, 3, 4, 5, 6 }, one = 1;
	for (uint32_t i = 0; i < turns; i++) {
		ADD_SIX(a, one);
		ADD_SIX(a, one);
		ADD_SIX(a, one);
	}
}

static __attribute__((noinline)) void multiply_chain(uint32_t turns)
{
	uint64_t x = 3;
	for (uint32_t i = 0; i < turns; i++) {
		MULTIPLY(x);
		MULTIPLY(x);
		MULTIPLY(x);
		MULTIPLY(x);
		MULTIPLY(x);
		MULTIPLY(x);
		MULTIPLY(x);
		MULTIPLY(x);
	}
}

static __attribute__((noinline)) void turn_around(uint64_t turns)
{
	COUNT_DOWN(turns);
}

void speed_work(const struct speed_ring *r, uint32_t *place, uint64_t ticks[SPEED_KINDS])
{
	uint32_t at = *place;
	/* untimed: the code comes into the caches again, and the ports wake up */
	fill_ports(PORTS_WARM);
	uint64_t begin = ticks_now();
	fill_ports(PORTS_TURNS);
	uint64_t filled = ticks_now();
	multiply_chain(CHAIN_TURNS);
	uint64_t chained = ticks_now();
	turn_around(TURNS);
	uint64_t turned = ticks_now();
	for (uint32_t i = 0; i < LOADS; i++)
		at = ((const volatile struct speed_ring *)r)->line[at].next;
	__asm__ volatile("" : "+r"(at)); /* done before the counter is read */
	uint64_t loaded = ticks_now();
	*place = at;
	ticks[SPEED_PORTS] = filled - begin;
	ticks[SPEED_CHAIN] = chained - filled;
	ticks[SPEED_TURNS] = turned - chained;
	ticks[SPEED_LOADS] = loaded - turned;
}
