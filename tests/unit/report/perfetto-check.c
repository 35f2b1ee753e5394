#include "perfetto-check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct span {
	const uint8_t *at, *end;
};

struct field {
	uint32_t number;
	bool is_bytes;
	uint64_t value;
	struct span bytes;
};

struct track {
	uint64_t id;
	bool is_cpu;
	size_t depth;
	uint64_t last_ns, outer_ns;
};

struct cpu {
	uint64_t number, running, since_ns;
	bool seen;
};

struct reader {
	ARRAY(struct track) tracks;
	ARRAY(struct cpu) cpus;
	struct perfetto_counts *counts;
	const char *wrong;
};

static bool varint(struct span *s, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; shift < 64 && s->at < s->end; shift += 7) {
		uint8_t byte = *s->at++;
		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* False at the end, and when it does not parse. */
static bool next(struct reader *r, struct span *s, struct field *f)
{
	uint64_t key;
	*f = (struct field){ 0 };
	if (r->wrong || s->at == s->end)
		return false;
	if (!varint(s, &key) || !varint(s, &f->value)) {
		r->wrong = "a number is cut";
		return false;
	}
	f->number = (uint32_t)(key >> 3);
	f->is_bytes = (key & 7) == 2;
	if (!f->number || (!f->is_bytes && (key & 7) != 0)) {
		r->wrong = "a field of a kind that is not written";
	} else if (f->is_bytes) {
		if (f->value > (uint64_t)(s->end - s->at))
			r->wrong = "a message is cut";
		else
			f->bytes = (struct span){ s->at, s->at + f->value };
		if (!r->wrong)
			s->at = f->bytes.end;
	}
	return !r->wrong;
}

static struct track *find_track(struct reader *r, uint64_t id)
{
	for (size_t i = r->tracks.count; i-- > 0;)
		if (r->tracks.items[i].id == id)
			return &r->tracks.items[i];
	return NULL;
}

static void read_track(struct reader *r, struct span s)
{
	struct track track = { 0 };
	for (struct field f; next(r, &s, &f);) {
		if (f.number == 1)
			track.id = f.value;
		if (f.number == 2 && f.is_bytes && f.value >= 4)
			track.is_cpu = memcmp(f.bytes.at, "CPU ", 4) == 0;
	}
	if (find_track(r, track.id))
		r->wrong = "a track is described twice";
	array_push(&r->tracks, track);
	r->counts->tracks++;
}

static void read_note(struct reader *r, struct span s)
{
	uint64_t number = 0;
	bool lost = false;
	for (struct field f; next(r, &s, &f);) {
		if (f.number == 3)
			number = f.value;
		if (f.number == 10 && f.value == 4)
			lost = memcmp(f.bytes.at, "lost", 4) == 0;
	}
	if (lost)
		r->counts->lost = number;
}

static void read_track_event(struct reader *r, struct span s, uint64_t at_ns)
{
	uint64_t type = 0, id = 0;
	for (struct field f; next(r, &s, &f);) {
		if (f.number == 9)
			type = f.value;
		if (f.number == 11)
			id = f.value;
		if (f.number == 4)
			read_note(r, f.bytes);
	}
	struct track *track = find_track(r, id);
	if (r->wrong)
		return;
	if (!track) {
		r->wrong = "an event on a track never described";
		return;
	}
	/* the title's slice is written whole before the instants within it */
	if (at_ns < track->last_ns && type != 3)
		r->wrong = "a slice ends before it begins";
	if (type != 3)
		track->last_ns = at_ns;
	if (type == 1 && track->depth++ == 0)
		track->outer_ns = at_ns;
	if (type == 2 && !track->depth) {
		r->wrong = "an end without a begin";
	} else if (type == 2 && --track->depth == 0 && track->is_cpu) {
		r->counts->interrupt_ns += at_ns - track->outer_ns;
	}
	r->counts->slices += type == 1;
	r->counts->instants += type == 3;
}

static struct cpu *find_cpu(struct reader *r, uint64_t number)
{
	for (size_t i = 0; i < r->cpus.count; i++)
		if (r->cpus.items[i].number == number)
			return &r->cpus.items[i];
	array_push(&r->cpus, (struct cpu){ .number = number });
	return &r->cpus.items[r->cpus.count - 1];
}

static void read_switch(struct reader *r, struct span s, struct cpu *cpu, uint64_t at_ns)
{
	uint64_t from = 0, to = 0;
	for (struct field f; next(r, &s, &f);) {
		if (f.number == 2)
			from = f.value;
		if (f.number == 6)
			to = f.value;
	}
	if (cpu->running != from)
		r->wrong = "a switch from a thread that did not have the CPU";
	if (cpu->seen && at_ns < cpu->since_ns)
		r->wrong = "a switch before the one before";
	if (cpu->running)
		r->counts->busy_ns += at_ns - cpu->since_ns;
	*cpu = (struct cpu){ cpu->number, to, at_ns, true };
	r->counts->switches++;
}

static void read_bundle(struct reader *r, struct span s)
{
	uint64_t number = 0;
	for (struct field f; next(r, &s, &f);) {
		if (f.number == 1)
			number = f.value;
		if (f.number != 2)
			continue;
		uint64_t at_ns = 0;
		for (struct field e; next(r, &f.bytes, &e);) {
			if (e.number == 1)
				at_ns = e.value;
			if (e.number == 4)
				read_switch(r, e.bytes, find_cpu(r, number), at_ns);
			r->counts->wakings += e.number == 20;
		}
	}
}

static void read_packet(struct reader *r, struct span s)
{
	uint64_t at_ns = 0;
	struct field event = { 0 };
	for (struct field f; next(r, &s, &f);) {
		if (f.number == 8)
			at_ns = f.value;
		if (f.number == 1)
			read_bundle(r, f.bytes);
		if (f.number == 60)
			read_track(r, f.bytes);
		if (f.number == 11)
			event = f;
	}
	if (at_ns > INT64_MAX)
		r->wrong = "a time beyond what readers know";
	if (event.number)
		read_track_event(r, event.bytes, at_ns);
	r->counts->packets++;
}

const char *perfetto_check(const void *bytes, size_t length, struct perfetto_counts *counts)
{
	struct reader r = { .counts = counts };
	struct span s = { bytes, (const uint8_t *)bytes + length };
	*counts = (struct perfetto_counts){ 0 };
	for (struct field f; next(&r, &s, &f);) {
		if (f.number != 1 || !f.is_bytes)
			r.wrong = "something beside packets";
		else
			read_packet(&r, f.bytes);
	}
	for (size_t i = 0; i < r.tracks.count && !r.wrong; i++)
		if (r.tracks.items[i].depth)
			r.wrong = "a slice never ends";
	for (size_t i = 0; i < r.cpus.count && !r.wrong; i++)
		if (r.cpus.items[i].running)
			r.wrong = "a CPU is never left";
	array_release(&r.tracks);
	array_release(&r.cpus);
	return r.wrong;
}
