/* This tare was built without libmicrohttpd. */
#include "serve/serve.h"

int serve_start(struct server **out, const struct serve_options *o,
		const struct serve_source *source, struct error *err)
{
	(void)out, (void)o, (void)source;
	error_set(err, EXIT_ENVIRONMENT, "this tare was built without its web server");
	return error_hint(err, "install libmicrohttpd-dev and build it again; 'tare report' "
			       "writes the same page as a file");
}

uint16_t serve_port(const struct server *s)
{
	(void)s;
	return 0;
}

void serve_stop(struct server *s)
{
	(void)s;
}
