/* A subject whose counts are known: count TURNS THREADS PAGES SLEEPS [unreaped|lingering]
 * Each of THREADS threads (0: the first alone) makes TURNS turns of two instructions, touches PAGES
 * new pages and sleeps SLEEPS times. With `unreaped`, so does a child, which begins when its parent
 * has ended. With `lingering` the child does it first and then outlives its parent. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096u
#define MOST_THREADS 64

static unsigned long turns, pages, sleeps;

static void turn(unsigned long n)
{
	if (!n)
		return;
#if defined(__x86_64__)
	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(n) : : "cc");
#elif defined(__aarch64__)
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(n) : : "cc");
#else
	for (volatile unsigned long i = n; i; i--)
		;
#endif
}

static void nap(long ns)
{
	nanosleep(&(struct timespec){ 0, ns }, NULL);
}

static void *work(void *unused)
{
	turn(turns);
	if (pages) {
		char *memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED)
			exit(1);
		madvise(memory, pages * PAGE, MADV_NOHUGEPAGE);
		for (unsigned long i = 0; i < pages; i++)
			memory[i * PAGE] = 1;
	}
	for (unsigned long i = 0; i < sleeps; i++)
		nap(100000);
	return unused;
}

int main(int argc, char **argv)
{
	if (argc < 5)
		return 2;
	unsigned long threads = strtoul(argv[2], NULL, 10);
	turns = strtoul(argv[1], NULL, 10);
	pages = strtoul(argv[3], NULL, 10);
	sleeps = strtoul(argv[4], NULL, 10);
	if (threads > MOST_THREADS)
		return 2;
	int lingers = argc > 5 && strcmp(argv[5], "lingering") == 0;
	if (argc > 5 && fork() == 0) {
		nap(lingers ? 0 : 200000000);
		work(NULL);
		nap(lingers ? 900000000 : 0);
		return 0;
	}
	nap(lingers ? 200000000 : 0);
	pthread_t thread[MOST_THREADS];
	for (unsigned long i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, work, NULL))
			return 1;
	if (!threads)
		work(NULL);
	for (unsigned long i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
