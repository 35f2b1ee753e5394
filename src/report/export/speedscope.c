/* speedscope's own file format: one profile of all apps, then one of each. */
#include <stdlib.h>

#include "report/export/profile.h"

struct scope_sample {
	uint32_t app;
	size_t first, count; /* in `frames` */
	uint64_t samples;
};

struct scope {
	const struct profile *profile;
	export_frames stack;
	ARRAY(uint32_t) frames; /* export_name_id(), the outermost first */
	ARRAY(struct scope_sample) samples;
	uint32_t *numbers; /* in the file, by export_name_id(); apps come first */
};

static void gather(void *context, const struct profile_sample *s, uint64_t count)
{
	struct scope *w = context;
	struct scope_sample sample = { .app = export_instance(w->profile, s->thread)->app,
				       .first = w->frames.count,
				       .samples = count };
	export_stack(w->profile, s->stack, &w->stack);
	for (size_t i = 0; i < w->stack.count; i++)
		array_push(&w->frames, export_name_id(w->profile, &w->stack.items[i]));
	sample.count = w->stack.count;
	array_push(&w->samples, sample);
}

/* Samples have no order of their own: with equal stacks side by side the view by time reads as a
 * flame graph. */
static int by_frames(const void *a, const void *b, void *context)
{
	const struct scope *w = context;
	const struct scope_sample *x = a, *y = b;
	if (x->app != y->app)
		return x->app < y->app ? -1 : 1;
	for (size_t i = 0; i < x->count && i < y->count; i++) {
		uint32_t left = w->frames.items[x->first + i];
		uint32_t right = w->frames.items[y->first + i];
		if (left != right)
			return left < right ? -1 : 1;
	}
	return x->count < y->count ? -1 : x->count > y->count;
}

/* Apps have a frame, too: that of the profile of all. */
static void put_frames(struct scope *w, struct strbuf *out)
{
	const struct profile *p = w->profile;
	uint32_t count = (uint32_t)p->apps.count;
	for (uint32_t i = 0; i < p->apps.count; i++) {
		strbuf_puts(out, i ? ",\n{\"name\":" : "{\"name\":");
		export_json_text(out, p->apps.items[i].name);
		strbuf_putc(out, '}');
	}
	for (size_t i = 0; i < w->frames.count; i++) {
		uint32_t id = w->frames.items[i];
		if (w->numbers[id])
			continue;
		w->numbers[id] = count++;
		strbuf_puts(out, ",\n");
		char room[EXPORT_NAME_MAX];
		const struct profile_function *function = export_function(p, id);
		strbuf_puts(out, "{\"name\":");
		export_json_text(out, export_name(p, id, room));
		strbuf_puts(out, ",\"file\":");
		if (function && function->file) {
			export_json_text(out, function->file);
			if (function->line)
				strbuf_printf(out, ",\"line\":%u", function->line);
		} else {
			export_json_text(out, p->objects.items[export_object(p, id)].path);
		}
		strbuf_putc(out, '}');
	}
}

static void put_profile(const struct scope *w, const char *name, size_t from, size_t to,
			bool with_app, struct strbuf *out)
{
	uint64_t end = 0;
	for (size_t i = from; i < to; i++)
		end += export_weight(w->profile, w->samples.items[i].samples);
	strbuf_puts(out, "{\"type\":\"sampled\",\"name\":");
	export_json_text(out, name);
	strbuf_printf(out, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%llu",
		      w->profile->mode == PROFILE_EVENT ? "none" : "nanoseconds",
		      (unsigned long long)end);
	strbuf_puts(out, ",\"samples\":[");
	for (size_t i = from; i < to; i++) {
		const struct scope_sample *s = &w->samples.items[i];
		strbuf_puts(out, i > from ? ",\n[" : "\n[");
		if (with_app)
			strbuf_printf(out, s->count ? "%u," : "%u", s->app);
		for (size_t j = 0; j < s->count; j++)
			strbuf_printf(out, j ? ",%u" : "%u",
				      w->numbers[w->frames.items[s->first + j]]);
		strbuf_putc(out, ']');
	}
	strbuf_puts(out, "],\"weights\":[");
	for (size_t i = from; i < to; i++)
		strbuf_printf(
			out, i > from ? ",%llu" : "%llu",
			(unsigned long long)export_weight(w->profile, w->samples.items[i].samples));
	strbuf_puts(out, "]}");
}

void export_speedscope(const struct profile_subject *s, const struct sleepy_filter *f,
		       struct strbuf *out)
{
	struct scope w = { .profile = s->profile,
			   .numbers = xcalloc(export_names(s->profile) + 1, sizeof(uint32_t)) };
	sleepy_each(s->profile, f, gather, &w);
	struct scope_sample *samples = w.samples.items;
	size_t kept = 0;
	if (w.samples.count)
		qsort_r(samples, w.samples.count, sizeof *samples, by_frames, &w);
	/* threads and instances of an app are one here */
	for (size_t i = 0; i < w.samples.count; i++)
		if (kept && by_frames(&samples[kept - 1], &samples[i], &w) == 0)
			samples[kept - 1].samples += samples[i].samples;
		else
			samples[kept++] = samples[i];
	w.samples.count = kept;
	strbuf_puts(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",");
	strbuf_puts(out, "\"exporter\":\"tare " TARE_VERSION "\",\"name\":");
	export_json_text(out, s->run && s->run->name ? s->run->name : "tare profile");
	strbuf_puts(out, ",\"activeProfileIndex\":0,\"shared\":{\"frames\":[\n");
	put_frames(&w, out);
	strbuf_puts(out, "]},\n\"profiles\":[\n");
	const char *all = w.profile->mode == PROFILE_EVENT ? w.profile->event : "all";
	put_profile(&w, all, 0, w.samples.count, true, out);
	for (size_t i = 0, next; i < w.samples.count; i = next) {
		uint32_t app = w.samples.items[i].app;
		for (next = i; next < w.samples.count && w.samples.items[next].app == app;)
			next++;
		strbuf_puts(out, ",\n");
		put_profile(&w, w.profile->apps.items[app].name, i, next, false, out);
	}
	strbuf_puts(out, "]}\n");
	array_release(&w.stack);
	array_release(&w.frames);
	array_release(&w.samples);
	xfree(w.numbers);
}
