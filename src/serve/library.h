/* libmicrohttpd, loaded when a server is started. Private to serve/. */
#ifndef TARE_SERVE_LIBRARY_H
#define TARE_SERVE_LIBRARY_H

#include <microhttpd.h>

#include "base/error.h"

#define MHD_FUNCTIONS(each)                                                                        \
	each(MHD_start_daemon) each(MHD_quiesce_daemon) each(MHD_stop_daemon) each(                \
		MHD_get_daemon_info) each(MHD_get_connection_info) each(MHD_get_connection_values) \
		each(MHD_suspend_connection) each(MHD_resume_connection)                           \
			each(MHD_create_response_from_buffer_with_free_callback_cls)               \
				each(MHD_create_response_from_callback)                            \
					each(MHD_add_response_header) each(MHD_queue_response)     \
						each(MHD_destroy_response)

struct mhd_library {
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration */
#define MHD_MEMBER(function) __typeof__(function) *function;
	MHD_FUNCTIONS(MHD_MEMBER)
#undef MHD_MEMBER
};

/* NULL: err says why (EXIT_ENVIRONMENT). Not thread-safe. */
const struct mhd_library *mhd_library(struct error *err);

#endif
