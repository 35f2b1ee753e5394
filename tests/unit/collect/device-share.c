/* Shares of device time, on cases small enough to be computed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "collect/devices/share.h"

#define DISK (254u << 20)
#define LOOP (7u << 20)
#define ME 100
#define MY_THREAD 101
#define OTHER 200

static device_use_list uses;

#define FULL(device, tgid, tid, from, to, bytes, flags)      \
	(struct device_request)                              \
	{                                                    \
		from, to, device, bytes, tid, tgid, flags, 0 \
	}
#define REQUEST(device, who, from, to) FULL(device, who, who, from, to, 4096, 0)
#define SHARE(begin, end, ...)                                        \
	do {                                                          \
		const struct device_request list[] = { __VA_ARGS__ }; \
		share(list, sizeof list / sizeof *list, begin, end);  \
	} while (0)

static void share(const struct device_request *list, size_t count, uint64_t begin, uint64_t end)
{
	static const pid_t tids[] = { MY_THREAD }, tgids[] = { 99, ME };
	struct devices_owner owner = { tids, 1, tgids, 2 };
	device_requests_share(list, count, begin, end, &owner, &uses);
}

static const struct device_use *use_of(uint32_t device)
{
	for (size_t i = 0; i < uses.count; i++)
		if (uses.items[i].device == device)
			return &uses.items[i];
	fail_msg("no use of device %x", device);
	return NULL;
}

static void assert_shares(uint32_t device, uint64_t own, uint64_t others)
{
	const struct device_use *u = use_of(device);
	assert_int_equal(u->own_ns, own);
	assert_int_equal(u->others_ns, others);
	assert_int_equal(u->busy_ns, own + others);
}

static void without_requests_no_device_was_used(void **state)
{
	(void)state;
	array_push(&uses, (struct device_use){ .device = DISK });
	share(NULL, 0, 0, 1000);
	assert_int_equal(uses.count, 0);
}

static void requests_that_overlap_are_counted_once(void **state)
{
	(void)state;
	/* the second of two that overlap adds what the first does not cover */
	SHARE(0, 1000, REQUEST(DISK, ME, 100, 300), REQUEST(DISK, ME, 200, 400),
	      REQUEST(DISK, ME, 600, 700));
	assert_int_equal(uses.count, 1);
	assert_shares(DISK, 400, 0);
	assert_int_equal(use_of(DISK)->own_reads, 3);
	assert_int_equal(use_of(DISK)->own_read_bytes, 3 * 4096);
	assert_int_equal(use_of(DISK)->others_reads, 0);
}

static void time_of_a_device_is_shared_by_those_in_flight(void **state)
{
	(void)state;
	/* 100 alone, 200 halved, 100 of the other: 100 + 100 and 100 + 100 */
	SHARE(0, 1000, REQUEST(DISK, ME, 100, 400), REQUEST(DISK, OTHER, 200, 500));
	assert_shares(DISK, 200, 200);
	/* a third of 300 for one of mine among three */
	SHARE(0, 1000, REQUEST(DISK, ME, 0, 300), REQUEST(DISK, OTHER, 0, 300),
	      REQUEST(DISK, OTHER, 0, 300));
	assert_shares(DISK, 100, 200);
	assert_int_equal(use_of(DISK)->others_reads, 2);
	assert_int_equal(use_of(DISK)->others_read_bytes, 8192);
}

static void a_request_is_mine_by_its_thread_or_its_process(void **state)
{
	(void)state;
	SHARE(0, 1000, FULL(DISK, OTHER, MY_THREAD, 0, 100, 4096, 0),
	      FULL(DISK, ME, 12345, 200, 300, 4096, 0), REQUEST(DISK, 99, 400, 500),
	      /* a process with the number of a thread is another one */
	      FULL(DISK, MY_THREAD, 7, 600, 700, 4096, 0),
	      /* submitted by nobody knows whom, in flight when it began */
	      REQUEST(DISK, 0, 800, 900));
	assert_shares(DISK, 300, 200);
}

static void requests_count_only_within_the_time_asked_for(void **state)
{
	(void)state;
	SHARE(1000, 2000, REQUEST(DISK, ME, 500, 1300), REQUEST(DISK, OTHER, 1900, 2500),
	      /* not within */
	      REQUEST(DISK, ME, 100, 1000), REQUEST(DISK, ME, 2000, 2100));
	assert_shares(DISK, 300, 100);
	assert_int_equal(use_of(DISK)->own_reads, 1);
	assert_int_equal(use_of(DISK)->others_reads, 1);
	SHARE(1000, 2000, REQUEST(DISK, ME, 500, 2500), REQUEST(DISK, OTHER, 0, 3000));
	assert_shares(DISK, 500, 500);
}

static void a_request_still_in_flight_counts_until_the_end(void **state)
{
	(void)state;
	SHARE(0, 1000, REQUEST(DISK, OTHER, 600, DEVICE_IN_FLIGHT), REQUEST(DISK, ME, 700, 900));
	assert_shares(DISK, 100, 300);
	assert_int_equal(use_of(DISK)->untold, 0);
}

static void devices_are_shared_each_for_itself(void **state)
{
	(void)state;
	SHARE(0, 1000, REQUEST(DISK, OTHER, 0, 500), REQUEST(LOOP, ME, 100, 400),
	      REQUEST(DISK, ME, 400, 600));
	assert_int_equal(uses.count, 2);
	assert_shares(DISK, 150, 450);
	assert_shares(LOOP, 300, 0);
}

/* By bytes: 16 of 16 KiB against one of 256 KiB have half of it, whatever their number. */
static void a_device_is_shared_by_bytes_not_by_requests(void **state)
{
	(void)state;
	struct device_request list[17];
	for (size_t i = 0; i < 16; i++)
		list[i] = (struct device_request)FULL(DISK, ME, ME, 0, 600, 16384, 0);
	list[16] = (struct device_request)FULL(DISK, OTHER, OTHER, 0, 600, 262144, 0);
	share(list, 17, 0, 1000);
	assert_shares(DISK, 300, 300);
}

/* A flush has no bytes, and its time is somebody's. */
static void a_flush_without_bytes_has_its_time(void **state)
{
	(void)state;
	SHARE(0, 1000, FULL(DISK, ME, ME, 100, 300, 0, DEVICE_WRITE));
	assert_shares(DISK, 200, 0);
}

static void reads_and_writes_are_counted_apart(void **state)
{
	(void)state;
	SHARE(0, 1000, FULL(DISK, ME, ME, 0, 100, 4096, DEVICE_WRITE),
	      FULL(DISK, OTHER, OTHER, 0, 100, 512, DEVICE_WRITE), REQUEST(DISK, ME, 200, 300));
	const struct device_use *u = use_of(DISK);
	assert_shares(DISK, 189, 11); /* 4096 : 512 bytes of 100, then alone */
	assert_int_equal(u->own_writes, 1);
	assert_int_equal(u->own_write_bytes, 4096);
	assert_int_equal(u->others_writes, 1);
	assert_int_equal(u->others_write_bytes, 512);
	assert_int_equal(u->own_reads, 1);
	assert_int_equal(u->own_read_bytes, 4096);
}

/* Its time counts until the merge; the request and the bytes are the other's. */
static void a_merged_request_counts_until_the_merge(void **state)
{
	(void)state;
	SHARE(0, 1000, FULL(DISK, ME, ME, 0, 100, 4096, DEVICE_MERGED),
	      FULL(DISK, ME, ME, 0, 300, 8192, 0));
	assert_shares(DISK, 300, 0);
	assert_int_equal(use_of(DISK)->own_reads, 1);
	assert_int_equal(use_of(DISK)->own_read_bytes, 8192);
}

/* One whose end was not told lasts as long as the mean of its like, at most until it was seen to be
 * over. */
static void a_request_whose_end_was_lost_lasts_as_long_as_its_like(void **state)
{
	(void)state;
	SHARE(0, 10000, REQUEST(DISK, ME, 0, 100), REQUEST(DISK, ME, 200, 500),
	      FULL(DISK, OTHER, OTHER, 1000, 9000, 4096, DEVICE_UNTOLD),
	      FULL(DISK, ME, ME, 2000, 2050, 4096, DEVICE_UNTOLD),
	      /* not its like */
	      FULL(DISK, ME, ME, 3000, 4000, 4096, DEVICE_WRITE), REQUEST(LOOP, ME, 0, 8000));
	assert_shares(DISK, 400 + 50 + 1000, 200);
	assert_int_equal(use_of(DISK)->untold, 2);
	assert_int_equal(use_of(DISK)->others_reads, 1);
	assert_int_equal(use_of(DISK)->others_read_bytes, 4096);
	/* over by then, whenever that was */
	SHARE(5000, 10000, REQUEST(DISK, ME, 200, 500), REQUEST(DISK, ME, 6000, 6100),
	      FULL(DISK, OTHER, OTHER, 1000, 9000, 4096, DEVICE_UNTOLD));
	assert_shares(DISK, 100, 0);
	assert_int_equal(use_of(DISK)->untold, 0);
}

static void requests_back_to_back_do_not_share(void **state)
{
	(void)state;
	/* one goes in the instant the next comes, told in any order; one of no length */
	SHARE(0, 1000, REQUEST(DISK, ME, 500, 600), REQUEST(DISK, OTHER, 400, 500),
	      REQUEST(DISK, ME, 450, 450));
	assert_shares(DISK, 100, 100);
}

static void twenty_thousand_requests_are_shared_exactly(void **state)
{
	(void)state;
	enum { MANY = 20000 };
	static struct device_request list[MANY];
	/* pairs that fill the time: mine for the first half of each 100 ns, both for the second */
	for (size_t i = 0; i < MANY / 2; i++) {
		list[2 * i] = REQUEST(DISK, OTHER, i * 100 + 50, i * 100 + 100);
		list[2 * i + 1] = REQUEST(DISK, ME, i * 100, i * 100 + 100);
	}
	share(list, MANY, 0, UINT64_MAX);
	assert_shares(DISK, UINT64_C(75) * MANY / 2, UINT64_C(25) * MANY / 2);
}

/* Half of them: what is usual is not summed up anew for each, which would take minutes. */
static void hundreds_of_thousands_of_lost_ends_do_not_take_long(void **state)
{
	(void)state;
	enum { MANY = 400000 };
	struct device_request *list = calloc(MANY, sizeof *list);
	assert_non_null(list);
	for (size_t i = 0; i < MANY / 2; i++) {
		uint64_t at = i * 200;
		list[2 * i] = REQUEST(DISK, ME, at, at + 50);
		list[2 * i + 1] = FULL(DISK, OTHER, OTHER, at + 100, at + 190, 4096, DEVICE_UNTOLD);
	}
	share(list, MANY, 0, UINT64_MAX);
	assert_shares(DISK, UINT64_C(50) * MANY / 2, UINT64_C(50) * MANY / 2);
	assert_int_equal(use_of(DISK)->untold, MANY / 2);
	free(list);
}

static int release(void **state)
{
	(void)state;
	array_release(&uses);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_requests_no_device_was_used),
		cmocka_unit_test(requests_that_overlap_are_counted_once),
		cmocka_unit_test(time_of_a_device_is_shared_by_those_in_flight),
		cmocka_unit_test(a_request_is_mine_by_its_thread_or_its_process),
		cmocka_unit_test(requests_count_only_within_the_time_asked_for),
		cmocka_unit_test(a_request_still_in_flight_counts_until_the_end),
		cmocka_unit_test(devices_are_shared_each_for_itself),
		cmocka_unit_test(a_device_is_shared_by_bytes_not_by_requests),
		cmocka_unit_test(a_flush_without_bytes_has_its_time),
		cmocka_unit_test(reads_and_writes_are_counted_apart),
		cmocka_unit_test(a_merged_request_counts_until_the_merge),
		cmocka_unit_test(a_request_whose_end_was_lost_lasts_as_long_as_its_like),
		cmocka_unit_test(requests_back_to_back_do_not_share),
		cmocka_unit_test(twenty_thousand_requests_are_shared_exactly),
		cmocka_unit_test(hundreds_of_thousands_of_lost_ends_do_not_take_long),
	};
	return cmocka_run_group_tests(tests, NULL, release);
}
