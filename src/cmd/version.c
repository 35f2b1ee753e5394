#include <gsl/gsl_version.h>
#include <jansson.h>
#include <sqlite3.h>
#include <stdio.h>
#include <zstd.h>

#include "cmd/cmd.h"
#include "collect/collect.h"

#ifdef TARE_SERVE
static const char web_server[] = "in this build";
#else
static const char web_server[] = "not in this build";
#endif

int cmd_version(void)
{
	printf("tare %s\n\nBack ends (best first):\n", TARE_VERSION);
	for (int b = BACKENDS - 1; b >= 0; b--) {
		bool built, usable;
		char why[256];
		collector_probe((enum backend)b, &built, &usable, why);
		printf("  %-8s %s%s\n", backend_name((enum backend)b),
		       usable  ? "can be used here"
		       : built ? "cannot be used here: "
			       : "not in this build",
		       built && !usable ? why : "");
	}
	printf("\nWeb server:\n  serve    %s\n\nLabs:\n  sqlite   %s\n\n"
	       "Built with: GSL %s, jansson %s, zstd %s\n"
	       "Licence GPL-3.0-or-later. No warranty.\n",
	       web_server, sqlite3_libversion(), GSL_VERSION, JANSSON_VERSION,
	       ZSTD_versionString());
	return EXIT_DONE;
}
