/* Writes the made-up profile in one of the formats for other programs, for tests/profile/.
 *
 *	profile-export-sample pprof|folded|speedscope|firefox [hostile]     to standard output
 *
 * hostile: with a function whose name is made to break what holds it.
 */
#include <stdio.h>
#include <string.h>

#include "../fixtures/profile.h"
#include "report/profile/report.h"

#define HOSTILE "a;b\n\"c\\</script>\xff\xc3\xa9 12"

static void add_hostile(struct profile *p)
{
	uint32_t function = profile_add_function(
		p, &(struct profile_function){ .object = 0,
					       .name = (char *)HOSTILE,
					       .address = 0x3000,
					       .size = 16,
					       .file = (char *)"/src/\"\n.c" });
	uint32_t location = profile_add_location(p, 0, 0x2000);
	profile_set_frames(p, location, 0x3000, &(struct profile_frame){ .function = function }, 1);
	profile_add_sample(p, 1, 0, profile_add_stack(p, &location, 1, 0, STACK_COMPLETE), 7);
}

int main(int argc, char **argv)
{
	static const char *const names[PROFILE_FORMATS] = { "pprof", "folded", "speedscope",
							    "firefox" };
	int format = 0;
	while (format < PROFILE_FORMATS && (argc < 2 || strcmp(argv[1], names[format]) != 0))
		format++;
	if (format == PROFILE_FORMATS)
		return 2;
	struct profile profile = { 0 };
	fixture_profile(&profile);
	if (argc > 2)
		add_hostile(&profile);
	struct sleepy_filter all = SLEEPY_ALL;
	struct strbuf out = { 0 };
	profile_export(&(struct profile_subject){ .profile = &profile }, &all,
		       (enum profile_format)format, &out);
	size_t written = fwrite(out.text, 1, out.length, stdout);
	bool ok = written == out.length && fflush(stdout) == 0;
	strbuf_release(&out);
	profile_release(&profile);
	return ok ? 0 : 1;
}
