#include "report/export/perfetto_packets.h"

#include "report/export/proto.h"

#define SEQUENCE 1
#define CLONE_THREAD_FLAG 0x10000

enum { TRACE_PACKET = 1 };

enum packet_field {
	PACKET_FTRACE = 1,
	PACKET_PROCESS_TREE = 2,
	PACKET_CLOCKS = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_CLOCK = 58,
	PACKET_TRACK = 60,
};
enum { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 };

enum clock { CLOCK_OF_DAY = 1, CLOCK_MONO = 3, CLOCK_BOOT = 6 };
enum { CLOCKS_CLOCK = 1, CLOCKS_PRIMARY = 2, CLOCK_ID = 1, CLOCK_TIME = 2 };

enum { INTERNED_KERNEL_SYMBOL = 26, INTERNED_ID = 1, INTERNED_TEXT = 2 };

enum track_field {
	TRACK_ID = 1,
	TRACK_NAME = 2,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_ORDERING = 11,
	TRACK_RANK = 12,
};
enum { ORDERED_BY_RANK = 3 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };

enum { TREE_PROCESS = 1, TREE_THREAD = 2 };
enum { PROCESS_PID = 1, PROCESS_PPID = 2, PROCESS_NAME = 3 };
enum { TREE_THREAD_TID = 1, TREE_THREAD_NAME = 2, TREE_THREAD_PID = 3 };

enum event_field { EVENT_NOTE = 4, EVENT_TYPE = 9, EVENT_TRACK = 11, EVENT_NAME = 23 };
enum event_type { EVENT_BEGIN = 1, EVENT_END = 2, EVENT_INSTANT = 3 };
enum { NOTE_NUMBER = 3, NOTE_TEXT = 6, NOTE_NAME = 10 };

enum { BUNDLE_CPU = 1, BUNDLE_EVENT = 2 };
enum ftrace_field {
	FTRACE_TIME = 1,
	FTRACE_PID = 2,
	FTRACE_SWITCH = 4,
	FTRACE_BLOCKED = 18,
	FTRACE_WAKING = 20,
	FTRACE_NEW_TASK = 235,
};

/* The signed 32-bit numbers of Protocol Buffers are widened to 64 bits with their sign. */
static uint64_t number_of(int32_t value)
{
	return (uint64_t)(int64_t)value;
}

static size_t open_packet(struct strbuf *out)
{
	size_t packet = proto_open(out, TRACE_PACKET);
	proto_uint(out, PACKET_SEQUENCE, SEQUENCE);
	return packet;
}

static void put_time(struct strbuf *out, uint64_t at_ns)
{
	proto_uint(out, PACKET_TIMESTAMP, at_ns);
	proto_uint(out, PACKET_CLOCK, CLOCK_MONO);
}

static void put_clock(struct strbuf *out, enum clock clock, uint64_t ns)
{
	size_t entry = proto_open(out, CLOCKS_CLOCK);
	proto_uint(out, CLOCK_ID, clock);
	proto_uint(out, CLOCK_TIME, ns);
	proto_close(out, entry);
}

void packets_start(struct strbuf *out, uint64_t monotonic_ns, int64_t realtime_ns,
		   const char *const *words, size_t count)
{
	size_t packet = open_packet(out);
	proto_uint(out, PACKET_FLAGS, FLAG_CLEARED);
	put_time(out, monotonic_ns);
	size_t clocks = proto_open(out, PACKET_CLOCKS);
	put_clock(out, CLOCK_MONO, monotonic_ns);
	/* Readers take the times of ftrace for those of this clock: it has to be the same one. */
	put_clock(out, CLOCK_BOOT, monotonic_ns);
	if (realtime_ns > 0)
		put_clock(out, CLOCK_OF_DAY, (uint64_t)realtime_ns);
	proto_uint(out, CLOCKS_PRIMARY, CLOCK_MONO);
	proto_close(out, clocks);
	proto_close(out, packet);

	packet = open_packet(out);
	proto_uint(out, PACKET_FLAGS, FLAG_NEEDS_STATE);
	size_t interned = proto_open(out, PACKET_INTERNED);
	for (size_t i = 0; i < count; i++) {
		size_t entry = proto_open(out, INTERNED_KERNEL_SYMBOL);
		proto_uint(out, INTERNED_ID, i + 1);
		proto_text(out, INTERNED_TEXT, words[i]);
		proto_close(out, entry);
	}
	proto_close(out, interned);
	proto_close(out, packet);
}

void packets_track(struct strbuf *out, uint64_t track, uint64_t parent, const char *name, int rank)
{
	size_t packet = open_packet(out);
	size_t entry = proto_open(out, PACKET_TRACK);
	proto_uint(out, TRACK_ID, track);
	proto_text(out, TRACK_NAME, name);
	if (parent)
		proto_uint(out, TRACK_PARENT, parent);
	if (rank == TRACKS_BY_RANK)
		proto_uint(out, TRACK_ORDERING, ORDERED_BY_RANK);
	else
		proto_uint(out, TRACK_RANK, number_of(rank));
	proto_close(out, entry);
	proto_close(out, packet);
}

void packets_thread_track(struct strbuf *out, uint64_t at_ns, uint64_t track, int32_t pid,
			  int32_t tid, const char *name)
{
	size_t packet = open_packet(out);
	put_time(out, at_ns);
	size_t entry = proto_open(out, PACKET_TRACK);
	proto_uint(out, TRACK_ID, track);
	size_t thread = proto_open(out, TRACK_THREAD);
	proto_uint(out, THREAD_PID, number_of(pid));
	proto_uint(out, THREAD_TID, number_of(tid));
	proto_text(out, THREAD_NAME, name);
	proto_close(out, thread);
	proto_close(out, entry);
	proto_close(out, packet);
}

void packets_process(struct strbuf *out, uint64_t at_ns, int32_t pid, int32_t ppid, int32_t tid,
		     const char *process, const char *thread)
{
	size_t packet = open_packet(out);
	put_time(out, at_ns);
	size_t tree = proto_open(out, PACKET_PROCESS_TREE);
	size_t entry = proto_open(out, TREE_PROCESS);
	proto_uint(out, PROCESS_PID, number_of(pid));
	proto_uint(out, PROCESS_PPID, number_of(ppid));
	/* a command line of one word is cut at its first blank */
	proto_text(out, PROCESS_NAME, process);
	proto_text(out, PROCESS_NAME, "");
	proto_close(out, entry);
	entry = proto_open(out, TREE_THREAD);
	proto_uint(out, TREE_THREAD_TID, number_of(tid));
	proto_text(out, TREE_THREAD_NAME, thread);
	proto_uint(out, TREE_THREAD_PID, number_of(pid));
	proto_close(out, entry);
	proto_close(out, tree);
	proto_close(out, packet);
}

static void put_event(struct strbuf *out, uint64_t at_ns, uint64_t track, enum event_type type,
		      const char *name, const struct packets_note *notes, size_t count)
{
	size_t packet = open_packet(out);
	put_time(out, at_ns);
	size_t event = proto_open(out, PACKET_TRACK_EVENT);
	proto_uint(out, EVENT_TYPE, type);
	proto_uint(out, EVENT_TRACK, track);
	if (name)
		proto_text(out, EVENT_NAME, name);
	for (size_t i = 0; i < count; i++) {
		size_t note = proto_open(out, EVENT_NOTE);
		proto_text(out, NOTE_NAME, notes[i].name);
		if (notes[i].text)
			proto_text(out, NOTE_TEXT, notes[i].text);
		else
			proto_uint(out, NOTE_NUMBER, notes[i].number);
		proto_close(out, note);
	}
	proto_close(out, event);
	proto_close(out, packet);
}

void packets_begin(struct strbuf *out, uint64_t at_ns, uint64_t track, const char *name,
		   const struct packets_note *notes, size_t count)
{
	put_event(out, at_ns, track, EVENT_BEGIN, name, notes, count);
}

void packets_end(struct strbuf *out, uint64_t at_ns, uint64_t track)
{
	put_event(out, at_ns, track, EVENT_END, NULL, NULL, 0);
}

void packets_instant(struct strbuf *out, uint64_t at_ns, uint64_t track, const char *name,
		     const struct packets_note *notes, size_t count)
{
	put_event(out, at_ns, track, EVENT_INSTANT, name, notes, count);
}

static size_t open_ftrace(struct strbuf *events, uint64_t at_ns, int32_t pid)
{
	size_t event = proto_open(events, BUNDLE_EVENT);
	proto_uint(events, FTRACE_TIME, at_ns);
	proto_uint(events, FTRACE_PID, (uint32_t)pid);
	return event;
}

void packets_switch(struct strbuf *events, uint64_t at_ns, int32_t from, const char *from_name,
		    enum packets_state from_state, int32_t to, const char *to_name)
{
	enum {
		FROM_NAME = 1,
		FROM = 2,
		FROM_PRIORITY = 3,
		FROM_STATE = 4,
		TO_NAME = 5,
		TO = 6,
		TO_PRIORITY = 7
	};
	size_t event = open_ftrace(events, at_ns, from);
	size_t body = proto_open(events, FTRACE_SWITCH);
	proto_text(events, FROM_NAME, from_name);
	proto_uint(events, FROM, number_of(from));
	proto_uint(events, FROM_PRIORITY, 120);
	proto_uint(events, FROM_STATE, from_state);
	proto_text(events, TO_NAME, to_name);
	proto_uint(events, TO, number_of(to));
	proto_uint(events, TO_PRIORITY, 120);
	proto_close(events, body);
	proto_close(events, event);
}

void packets_waking(struct strbuf *events, uint64_t at_ns, int32_t waker, int32_t tid,
		    const char *name, uint32_t cpu)
{
	enum { NAME = 1, TID = 2, PRIORITY = 3, SUCCESS = 4, CPU = 5 };
	size_t event = open_ftrace(events, at_ns, waker);
	size_t body = proto_open(events, FTRACE_WAKING);
	proto_text(events, NAME, name);
	proto_uint(events, TID, number_of(tid));
	proto_uint(events, PRIORITY, 120);
	proto_uint(events, SUCCESS, 1);
	proto_uint(events, CPU, cpu);
	proto_close(events, body);
	proto_close(events, event);
}

void packets_blocked(struct strbuf *events, uint64_t at_ns, int32_t tid, size_t word, bool io)
{
	enum { TID = 1, CALLER = 2, IO = 3 };
	size_t event = open_ftrace(events, at_ns, tid);
	size_t body = proto_open(events, FTRACE_BLOCKED);
	proto_uint(events, TID, number_of(tid));
	proto_uint(events, CALLER, word + 1);
	proto_uint(events, IO, io);
	proto_close(events, body);
	proto_close(events, event);
}

void packets_new_task(struct strbuf *events, uint64_t at_ns, int32_t maker, int32_t tid,
		      const char *name, bool thread)
{
	enum { TID = 1, NAME = 2, FLAGS = 3 };
	size_t event = open_ftrace(events, at_ns, maker);
	size_t body = proto_open(events, FTRACE_NEW_TASK);
	proto_uint(events, TID, number_of(tid));
	proto_text(events, NAME, name);
	proto_uint(events, FLAGS, thread ? CLONE_THREAD_FLAG : 0);
	proto_close(events, body);
	proto_close(events, event);
}

void packets_cpu(struct strbuf *out, uint32_t cpu, struct strbuf *events)
{
	if (!events->length)
		return;
	size_t packet = open_packet(out);
	proto_uint(out, PACKET_FLAGS, FLAG_NEEDS_STATE);
	size_t bundle = proto_open(out, PACKET_FTRACE);
	proto_uint(out, BUNDLE_CPU, cpu);
	strbuf_add(out, events->text, events->length);
	proto_close(out, bundle);
	proto_close(out, packet);
	strbuf_clear(events);
}
