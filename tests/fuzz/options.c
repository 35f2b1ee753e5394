/* The command line: every word of it is a stranger's. Lines of the input are the words. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool flag = false;
	enum help help = HELP_NONE;
	const char *text = NULL;
	text_list texts = { 0 }, operands = { 0 };
	long integer = 0;
	double fraction = 0;
	uint64_t duration_ns = 0;
	int choice = 0;
	const struct option_spec specs[] = {
		{ 'f', "flag", OPTION_FLAG, &flag, NULL, "a flag" },
		{ 't', "text", OPTION_TEXT, &text, "TEXT", "a text" },
		{ 'L', "list", OPTION_TEXTS, &texts, "VAR VALUES", "two texts", .arity = 2 },
		{ 'r', "runs", OPTION_INTEGER, &integer, "NUM", "a number", .min = 1 },
		{ 'd', "duration", OPTION_DURATION, &duration_ns, "TIME", "a time" },
		{ 's', "share", OPTION_FRACTION, &fraction, "SHARE", "a share" },
		{ 'c', "format", OPTION_CHOICE, &choice, "text|json|csv", "a choice" },
		{ 0 },
	};
	char *words[64] = { (char *)"fuzz" }, *input = malloc(size + 1);
	if (!input)
		abort();
	memcpy(input, data, size);
	input[size] = '\0';
	word_list split = { 0 };
	struct error err = ERROR_INIT;
	if (words_split(input, &split, &err) == 0)
		words_release(&split);
	int count = 1;
	for (char *save = NULL, *word = strtok_r(input, "\n", &save); word && count < 63;
	     word = strtok_r(NULL, "\n", &save))
		words[count++] = word;
	options_parse("fuzz", specs, count, words, &operands, &help, &err);
	array_release(&operands);
	array_release(&texts);
	free(input);
	return 0;
}
