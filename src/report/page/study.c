/* A daemon study. */
#include <stdio.h>

#include "base/array.h"
#include "base/text.h"
#include "report/core/format.h"
#include "report/page/documents.h"
#include "report/page/private.h"
#include "stats/period.h"

/* Since the first one began; null where one has no time. */
static json_t *begins_json(const struct sedona_run *r)
{
	json_t *list = json_array();
	for (size_t i = 0; i < r->samples.count; i++) {
		int64_t at_ns = r->samples.items[i].at_ns;
		if (!at_ns) {
			json_decref(list);
			return json_null();
		}
		json_array_append_new(list,
				      json_integer((at_ns - r->samples.items[0].at_ns) / 1000));
	}
	return list;
}

static json_t *samples_json(const struct page_samples *s, const struct study_run *found)
{
	if (!s->run || !found->present)
		return json_null();
	const struct sedona_run *r = s->run;
	json_t *o = json_object(), *number = json_array(), *et = json_array();
	json_t *l = json_array(), *dropped = json_array();
	for (size_t i = 0; i < r->samples.count; i++) {
		const struct sedona_sample *x = &r->samples.items[i];
		json_array_append_new(number, json_integer(x->number));
		json_array_append_new(et, json_integer((json_int_t)x->et_ns));
		if (s->is_l && s->is_l[i])
			json_array_append_new(l, json_integer((json_int_t)i));
		if (number_list_has(&found->dropped, x->number))
			json_array_append_new(dropped, json_integer((json_int_t)i));
	}
	json_object_set_new(o, "number", number);
	json_object_set_new(o, "at_us", begins_json(r));
	json_object_set_new(o, "et", et);
	json_object_set_new(o, "l", l);
	json_object_set_new(o, "dropped", dropped);
	return o;
}

/* Of each daemon, the number of the first sample, from 0 on, that its period in this run is
 * expected in; null: it has none. */
static json_t *phases_json(const struct study *s, enum study_length k)
{
	json_t *list = json_array();
	for (size_t i = 0; i < s->daemons.count; i++) {
		const struct study_seen *seen = &s->daemons.items[i].seen[k];
		bool has = seen->period.found && seen->period.samples > 0 && seen->samples.count;
		double *at = xcalloc(seen->samples.count + 1, sizeof *at);
		for (size_t n = 0; n < seen->samples.count; n++)
			at[n] = seen->samples.items[n];
		json_array_append_new(list, has ? chart_real(period_phase(at, seen->samples.count,
									  seen->period.samples))
						: json_null());
		xfree(at);
	}
	return list;
}

/* "Executions of inc: 300 of 1 s, 60 of 16 s" */
static void put_subtitle(const struct study *s, struct strbuf *out)
{
	static const char *const sources[STUDY_SOURCES] = {
		[STUDY_ACTIVE] = "Executions of inc",
		[STUDY_WATCH] = "Windows cut from a watch",
		[STUDY_RUNS] = "Stored runs",
	};
	const char *between = ": ";
	strbuf_puts(out, sources[s->source]);
	for (enum study_length k = 0; k < STUDY_LENGTHS; k++) {
		char length[WORDS];
		if (!s->runs[k].present)
			continue;
		text_duration((double)s->runs[k].length_ns, 3, length, sizeof(length));
		strbuf_printf(out, "%s%u of %s", between, s->runs[k].samples, length);
		between = ", ";
	}
}

static void note_missing(json_t *section, const struct study *s,
			 const struct page_samples samples[STUDY_LENGTHS])
{
	for (enum study_length k = 0; k < STUDY_LENGTHS; k++) {
		if (!s->runs[k].present || samples[k].run)
			continue;
		page_notef(section,
			   s->source == STUDY_WATCH
				   ? "The samples of the %s run were cut from a watch and are not "
				     "stored: there are no pictures of them."
				   : "The %s run is no longer in the lab: there are no pictures of "
				     "its samples.",
			   study_length_name(k));
	}
}

void page_add_study(struct page *p, const struct study *s, const struct machine *machine,
		    const struct page_samples samples[STUDY_LENGTHS])
{
	char title[WORDS] = "Daemons";
	struct strbuf subtitle = { 0 };
	if (s->id)
		snprintf(title, sizeof(title), "Daemons: study %lld", (long long)s->id);
	put_subtitle(s, &subtitle);
	const struct run made = {
		.id = s->id, .name = title, .status = RUN_COMPLETE, .started_at_ns = s->made_at_ns
	};
	json_t *o =
		page_head(p, &study_section_shape, &made, &made, machine, strbuf_text(&subtitle));
	json_t *of_runs = json_object(), *phases = json_object();
	for (enum study_length k = 0; k < STUDY_LENGTHS; k++) {
		json_object_set_new(of_runs, study_length_name(k),
				    samples_json(&samples[k], &s->runs[k]));
		json_object_set_new(phases, study_length_name(k), phases_json(s, k));
	}
	json_object_set_new(o, "study", daemons_document(s, NULL)); /* the head has the machine */
	json_object_set_new(o, "samples", of_runs);
	json_object_set_new(o, "phases", phases);
	note_missing(o, s, samples);
	page_add(p, o);
	strbuf_release(&subtitle);
}
