/* A request as a client may send it: method, URL, headers and body, separated by lines. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "serve/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct request_place places[] = { { "127.0.0.1", 8273 }, { "::", 80 } };
	struct error err;
	struct request r;
	struct request_edit e;
	char *text = malloc(size + 1), *part[5], *at = text;
	memcpy(text, data, size);
	text[size] = '\0';
	for (int i = 0; i < 5; i++) {
		part[i] = at;
		at += strcspn(at, "\n");
		if (*at && i < 4)
			*at++ = '\0';
	}
	if (request_parse(&r, part[0], part[1], &err) == 0) {
		if (r.route != ROUTE_PAGE && strncmp(part[1], "/api/", 5) != 0)
			abort();
		if (r.runs.count > REQUEST_RUNS_MAX || r.studies.count > REQUEST_RUNS_MAX)
			abort();
		free(request_key(&r));
	}
	request_release(&r);
	for (int i = 0; i < 2; i++)
		if (request_origin_fits(&places[i], part[2]) && strchr(part[2], '@'))
			abort();
	request_takes_gzip(part[3]);
	request_token_fits("0123456789abcdef", part[3]);
	request_token_good(part[3]);
	request_edit_parse(&e, part[4], strlen(part[4]), &err);
	request_edit_release(&e);
	free(text);
	return 0;
}
