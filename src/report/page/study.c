/* A daemon study. */
#include <stdio.h>

#include "base/array.h"
#include "base/text.h"
#include "report/core/format.h"
#include "report/page/documents.h"
#include "report/page/private.h"
#include "stats/period.h"

static json_t *samples_json(const struct page_samples *s, const struct study_run *found)
{
	if (!s->run || !found->present)
		return json_null();
	const struct sedona_run *r = s->run;
	json_t *o = json_shape(&page_samples_shape, s);
	bool timed = true;
	for (size_t i = 0; i < r->samples.count; i++)
		timed &= r->samples.items[i].at_ns != 0;
	json_object_set_new(o, "at_us", timed ? json_array() : json_null());
	for (size_t i = 0; i < r->samples.count; i++) {
		const struct sedona_sample *x = &r->samples.items[i];
		json_append(o, "number", json_integer(x->number));
		if (timed) /* since the first one began */
			json_append(o, "at_us",
				    json_integer((x->at_ns - r->samples.items[0].at_ns) / 1000));
		json_append(o, "et", json_count(x->et_ns));
		if (s->is_l && s->is_l[i])
			json_append(o, "l", json_count(i));
		if (number_list_has(&found->dropped, x->number))
			json_append(o, "dropped", json_count(i));
	}
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

void page_add_study(struct page *p, const struct study *s, const struct machine *machine,
		    const struct page_samples samples[STUDY_LENGTHS])
{
	static const char *const sources[STUDY_SOURCES] = {
		[STUDY_ACTIVE] = "Executions of inc",
		[STUDY_WATCH] = "Windows cut from a watch",
		[STUDY_RUNS] = "Stored runs",
	};
	char title[WORDS] = "Daemons";
	const char *between = ": ";
	struct strbuf subtitle = { 0 }; /* "Executions of inc: 300 of 1 s, 60 of 16 s" */
	if (s->id)
		snprintf(title, sizeof(title), "Daemons: study %lld", (long long)s->id);
	strbuf_puts(&subtitle, sources[s->source]);
	for (enum study_length k = 0; k < STUDY_LENGTHS; k++) {
		char length[WORDS];
		if (!s->runs[k].present)
			continue;
		text_duration((double)s->runs[k].length_ns, 3, length, sizeof(length));
		strbuf_printf(&subtitle, "%s%u of %s", between, s->runs[k].samples, length);
		between = ", ";
	}
	const struct run made = {
		.id = s->id, .name = title, .status = RUN_COMPLETE, .started_at_ns = s->made_at_ns
	};
	json_t *o =
		page_head(p, &study_section_shape, &made, &made, machine, strbuf_text(&subtitle));
	json_t *of_runs = json_object(), *phases = json_object();
	for (enum study_length k = 0; k < STUDY_LENGTHS; k++) {
		json_object_set_new(of_runs, study_length_names[k],
				    samples_json(&samples[k], &s->runs[k]));
		json_object_set_new(phases, study_length_names[k], phases_json(s, k));
		if (s->runs[k].present && !samples[k].run)
			page_notef(o,
				   s->source == STUDY_WATCH
					   ? "The samples of the %s run were cut from a watch and "
					     "are not stored: there are no pictures of them."
					   : "The %s run is no longer in the lab: there are no "
					     "pictures of its samples.",
				   study_length_names[k]);
	}
	json_object_set_new(o, "study", daemons_document(s, NULL)); /* the head has the machine */
	json_object_set_new(o, "samples", of_runs);
	json_object_set_new(o, "phases", phases);
	page_add(p, o);
	strbuf_release(&subtitle);
}
