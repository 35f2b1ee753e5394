/* What symbols.c looks for names in. The labels tell it addresses, the words in capitals
 * the lines; each label is in one place because its function is inlined once. */
#include <stdlib.h>

int subject_work(int n);
void subject_rest(void);
void subject_end(void);

volatile int subject_sum;

static inline __attribute__((always_inline)) void innermost(int n)
{
	subject_sum += n;						/* before */
	__asm__ volatile(".globl mark_innermost\nmark_innermost: nop"); /* INNERMOST */
}

static inline __attribute__((always_inline)) void middle(int n)
{
	subject_sum ^= n;
	innermost(n + 1); /* MIDDLE */
}

__attribute__((noinline)) int subject_work(int n)
{
	for (int i = 0; i < n; i++)
		middle(i);					/* OUTER */
	__asm__ volatile(".globl mark_plain\nmark_plain: nop"); /* PLAIN */
	return subject_sum + rand();
}

/* without a size, as written in assembly */
__asm__(".text\n.globl bare_begin\nbare_begin:\nnop\nnop\nnop\nnop\n.globl bare_end\nbare_end:\nret\n");

__attribute__((noinline)) void subject_rest(void)
{
	subject_sum = 0;
}

#ifndef LIBRARY
/* Nobody else may call it, so that stripping takes its name. */
__attribute__((noinline, used)) static int hidden(int n)
{
	for (int i = 0; i < n; i++)
		subject_sum ^= i * n;
	return subject_sum;
}

int main(int argc, char **argv)
{
	(void)argv;
	hidden(argc);
	subject_rest();
	return subject_work(argc) == 42;
}
#endif
