/* What the kernel says, and what users write: the first byte chooses the parser, the rest is its
 * text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "base/text.h"
#include "collect/backend/overall.h"
#include "collect/backend/procfs.h"
#include "collect/detours/untold.h"
#include "collect/ledger/names.h"
#include "collect/samples/appids.h"
#ifdef TARE_NETLINK
#include <libmnl/libmnl.h>

#include "collect/backend/taskstats.h"
#endif
#include "measure/parameters.h"
#include "record/conditions.h"
#include "record/execution.h"
#include "record/machine.h"
#include "record/tags.h"
#include "subject/command.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void parse_proc(unsigned which, const char *text, size_t length)
{
	struct task_record t = { 0 };
	struct stat_extra extra;
	switch (which) {
	case 0:
		stat_parse(text, length, &t, &extra);
		break;
	case 1:
		status_parse(text, length, &t);
		break;
	case 2:
		io_parse(text, length, &t);
		break;
	default:
		schedstat_parse(text, length, &t);
	}
}

static void parse_netlink(const char *bytes, size_t length)
{
#ifdef TARE_NETLINK
	struct taskstats_answer answer;
	taskstats_decode(bytes, length, true, &answer);
	/* as taskstats_receive(): only a message that is whole is looked into */
	if (length <= INT32_MAX && mnl_nlmsg_ok((const struct nlmsghdr *)bytes, (int)length))
		taskstats_parse((const struct nlmsghdr *)bytes, false, &answer);
#else
	(void)bytes;
	(void)length;
#endif
}

static void parse_machine(const char *text)
{
	struct machine m = { 0 }, again = { 0 };
	machine_from_text(&m, text);
	char *out = machine_to_text(&m);
	machine_from_text(&again, out);
	char one[17], two[17];
	machine_fingerprint(&m, one);
	machine_fingerprint(&again, two);
	if (strcmp(one, two) != 0)
		abort();
	free(out);
	machine_release(&m);
	machine_release(&again);
}

static void parse_words(const char *text)
{
	parameter_space space = { 0 };
	struct error err = ERROR_INIT;
	cpu_set_t cpus;
	uint64_t ns;
	double share;
	char shown[16];
	cpus_parse(text, &cpus);
	duration_parse(text, &ns);
	fraction_parse(text, &share);
	text_display(text, shown, sizeof shown);
	if (parameter_list(&space, "n", text, &err) == 0)
		free(parameter_fill(&space, 0, text));
	parameter_space_release(&space);
	if (parameter_scan(&space, "n", text, "3", NULL, &err) == 0 &&
	    !parameter_combinations(&space))
		abort();
	parameter_space_release(&space);
}

static void parse_names(const char *text)
{
	char name[LEDGER_NAME_SIZE], thread[APPIDS_THREAD_NAME];
	irq_name(text, 24, name);
	if (!memchr(name, '\0', sizeof name))
		abort();
	appids_thread_name(text, thread);
	if (!memchr(thread, '\0', sizeof thread))
		abort();
	free(appids_cgroup(text));
	/* two readings, the second after an empty line */
	struct noise_cpu c = { 0 };
	const char *after = strstr(text, "\n\n");
	untold_between(text, after ? after + 2 : text, &c);
	array_release(&c.untold);
}

static void parse_kept(const char *text)
{
	struct conditions c = conditions_take(xstrdup(text));
	if (!c.text || (!c.all && (c.quiet.count || c.pids.count)))
		abort();
	conditions_release(&c);
	/* what is added is there, and what is removed is gone */
	char *more = tags_change(text, "fuzz", NULL), *less = tags_change(more, NULL, "fuzz");
	if (!more || !strstr(more, "fuzz"))
		abort();
	const char *at = less;
	size_t length;
	for (const char *tag; less && (tag = tags_next(&at, &length));)
		if (length == 4 && strncmp(tag, "fuzz", 4) == 0)
			abort();
	free(more);
	free(less);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	/* aligned, and exactly as long as it says */
	char *text = malloc(size);
	memcpy(text, data + 1, size - 1);
	struct overall overall = { 0 };
	if (*data < 5) {
		parse_proc(*data, text, size - 1);
	} else if (*data == 5) {
		parse_netlink(text, size - 1);
	} else {
		text[size - 1] = '\0';
		if (*data == 6)
			parse_machine(text);
		else if (*data == 7)
			parse_words(text);
		else if (*data == 8)
			overall_parse_stat(text, &overall);
		else if (*data == 9)
			overall_parse_vmstat(text, &overall);
		else if (*data == 10)
			parse_names(text);
		else
			parse_kept(text);
	}
	free(text);
	return 0;
}
