#include "collect/samples.h"

int samples_open(struct samples **out, const struct samples_options *options, struct error *err)
{
	(void)out;
	(void)options;
	(void)err;
	return 0;
}

void samples_close(struct samples *s)
{
	(void)s;
}

void samples_describe(const struct samples *s, struct profile *into)
{
	(void)s;
	(void)into;
}

enum backend samples_backend(const struct samples *s)
{
	(void)s;
	return 0;
}

const char *samples_not_seen(const struct samples *s)
{
	(void)s;
	return NULL;
}

int samples_follow(struct samples *s, pid_t pid, struct error *err)
{
	(void)s;
	(void)pid;
	(void)err;
	return 0;
}

int samples_start(struct samples *s, struct error *err)
{
	(void)s;
	(void)err;
	return 0;
}

void samples_stop(struct samples *s)
{
	(void)s;
}

uint64_t samples_beat_ns(const struct samples *s)
{
	(void)s;
	return 0;
}

int samples_fd(const struct samples *s)
{
	(void)s;
	return 0;
}

int samples_beat(struct samples *s, struct error *err)
{
	(void)s;
	(void)err;
	return 0;
}

int samples_take(struct samples *s, struct profile *into, struct error *err)
{
	(void)s;
	(void)into;
	(void)err;
	return 0;
}

int samples_object_fd(struct samples *s, const struct profile_object *o)
{
	(void)s;
	(void)o;
	return 0;
}

bool samples_idle(const struct samples *s)
{
	(void)s;
	return 0;
}

uint32_t samples_max_hz(void)
{
	return 0;
}
