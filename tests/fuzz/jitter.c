/* Rings lose events and clocks disagree: whatever the events and detours of a round say, every ns
 * of a detour must be under one source. The input is a byte of options, then what happens, 8 bytes
 * each; it is cut into rounds. Small numbers are made likely, or nothing would fit together. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/protocol/jitter-scene.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t kinds[] = { TRACE_SWITCH, TRACE_ENTER,	 TRACE_LEAVE,	 TRACE_ENTER,
				 TRACE_LEAVE,  TRACE_WORK_BEGIN, TRACE_WORK_END, TRACE_FAULT,
				 TRACE_NMI,    TRACE_WAKEUP };

static void add_event(struct scene *s, const uint8_t *x, uint64_t at_ns)
{
	uint8_t kind = x[0] & 64 ? x[1] : kinds[x[1] % sizeof kinds];
	struct trace_event *e = scene_event(s, at_ns, TRACE_ENTER, x[2] & 7, x[3] & 15);
	e->kind = kind;
	if (kind == TRACE_NMI)
		e->b = (uint32_t)x[2] << 8;
	e->tid = x[4] & 1 ? LOOP : x[4] >> 4;
	e->flags = x[4] & 2 ? TRACE_IS_FAIR : 0;
	memset(e->comm, x[5], x[4] & 12);
	if (x[4] & 4)
		memcpy(e->comm, "kworker/", 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct scene s;
	if (!size)
		return 0;
	uint8_t options = *data++;
	size--;
	scene_init(&s);
	s.round.realtime = options & 1;
	s.round.kernel = !(options & 2);
	s.noise.worst_max = options >> 5;
	uint64_t now = 0;
	for (; size >= 8; size -= 8, data += 8) {
		/* steps from some ns to some ms, back at times */
		uint64_t step = (uint64_t)data[6] << (data[7] & 15);
		now = data[7] & 16 && now > step ? now - step : now + step;
		if (data[0] & 128) {
			uint64_t ns = (uint64_t)data[1] << (data[2] & 15);
			scene_detour(&s, now, options & 4 && data[3] & 1 ? now - ns : now + ns);
			if (data[3] & 2)
				s.detours.items[s.detours.count - 1].steal_ns = (uint64_t)data[4]
										<< (data[5] & 15);
			if (!(data[3] & 12))
				now += ns;
		} else {
			add_event(&s, data, now);
		}
		if (options & 8 && data[0] == 0x55)
			scene_play(&s);
	}
	scene_play(&s);
	if (noise_sums_wrong(&s.noise))
		abort();
	scene_release(&s);
	return 0;
}
