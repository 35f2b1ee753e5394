/* Shared by the exports of a profile. Private to report/. */
#ifndef TARE_REPORT_EXPORT_PROFILE_H
#define TARE_REPORT_EXPORT_PROFILE_H

#include "report/core/numbers.h"
#include "report/profile/report.h"

/* One level of a stack. */
struct export_frame {
	uint32_t location;
	uint32_t function; /* PROFILE_NONE: only the location is known */
	uint32_t line;	   /* in its function's file; 0: unknown, or in another file */
	uint32_t inlined;  /* how many levels of its location enclose it */
	bool kernel;
};
typedef ARRAY(struct export_frame) export_frames;

/* The levels of a stack, outermost first. Replaces the contents of `into`. */
void export_stack(const struct profile *p, uint32_t stack, export_frames *into);
/* A number for the name of a level, below export_names(). */
uint32_t export_name_id(const struct profile *p, const struct export_frame *f);
uint32_t export_names(const struct profile *p);
#define EXPORT_NAME_MAX 512
/* Borrowed, or written to `room`. */
const char *export_name(const struct profile *p, uint32_t id, char room[EXPORT_NAME_MAX]);
/* The object and function of that number. */
uint32_t export_object(const struct profile *p, uint32_t id);
const struct profile_function *export_function(const struct profile *p, uint32_t id); /* or NULL */

/* What so many samples stand for: ns, or events. */
uint64_t export_weight(const struct profile *p, uint64_t samples);
/* The instance and the app of a thread. */
const struct profile_instance *export_instance(const struct profile *p, uint32_t thread);
const struct profile_app *export_app(const struct profile *p, uint32_t thread);
/* The begin of the first slice that passes and the sum of their lengths; 0 and 0: none. */
void export_window(const struct profile *p, const struct sleepy_filter *f, uint64_t *begin_ns,
		   uint64_t *length_ns);
bool export_passes(const struct profile_slice *slice, const struct sleepy_filter *f);

/* A JSON string with its quotes. */
void export_json_text(struct strbuf *out, const char *text);

void export_pprof(const struct profile_subject *s, const struct sleepy_filter *f,
		  struct strbuf *out);
void export_folded(const struct profile_subject *s, const struct sleepy_filter *f,
		   struct strbuf *out);
void export_speedscope(const struct profile_subject *s, const struct sleepy_filter *f,
		       struct strbuf *out);
void export_firefox(const struct profile_subject *s, const struct sleepy_filter *f,
		    struct strbuf *out);

#endif
