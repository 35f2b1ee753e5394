#include "collect/sideband.h"

int sideband_open(struct sideband **out, const struct sideband_options *options, struct error *err)
{
	(void)out;
	(void)options;
	(void)err;
	return 0;
}

void sideband_close(struct sideband *sb)
{
	(void)sb;
}

bool sideband_read(struct sideband *sb)
{
	(void)sb;
	return 0;
}

int sideband_fd(const struct sideband *sb)
{
	(void)sb;
	return 0;
}

uint64_t sideband_lost(struct sideband *sb)
{
	(void)sb;
	return 0;
}

struct image_of *sideband_find(struct sideband *sb, uint32_t pid, uint64_t at_ns)
{
	(void)sb;
	(void)pid;
	(void)at_ns;
	return NULL;
}

struct image_of *sideband_refresh(struct sideband *sb, uint32_t pid)
{
	(void)sb;
	(void)pid;
	return NULL;
}

const struct mapping *image_mapping(const struct image_of *image, uint64_t address)
{
	(void)image;
	(void)address;
	return NULL;
}

void sideband_each(struct sideband *sb, image_fn each, void *context)
{
	(void)sb;
	(void)each;
	(void)context;
}

void sideband_forget(struct sideband *sb, uint64_t before_ns)
{
	(void)sb;
	(void)before_ns;
}

struct sideband_object *sideband_object(struct sideband *sb, uint32_t object)
{
	(void)sb;
	(void)object;
	return NULL;
}

int sideband_object_fd(struct sideband *sb, uint32_t object, uint32_t pid)
{
	(void)sb;
	(void)object;
	(void)pid;
	return 0;
}

void sideband_take(struct sideband *sb, const struct perf_event_header *record, uint64_t time_ns)
{
	(void)sb;
	(void)record;
	(void)time_ns;
}

struct sideband *sideband_new(void)
{
	return NULL;
}
