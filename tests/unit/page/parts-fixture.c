#include "parts-fixture.h"

#include "../report/noise-fixture.h"
#include "../report/profile-report.h"
#include "../report/query-fixture.h"

static bool differ(const struct noise_fixture *base, const struct noise_fixture *run,
		   struct jitter_diff *d)
{
	struct error none = ERROR_INIT;
	return jitter_compare(&base->noise, &run->noise, d, &none) == 0;
}

static void add_noises(struct page *p)
{
	struct noise_fixture guest, plain, quiet;
	struct jitter_diff d = { 0 };
	noise_fixture_guest(&guest);
	noise_fixture_plain(&plain);
	noise_fixture_empty(&quiet, 2);
	bool based = differ(&plain, &guest, &d);
	page_add_noise(p, &guest.view, based ? &plain.view : NULL, based ? &d : NULL);
	jitter_diff_release(&d);
	page_add_noise(p, &plain.view, NULL, NULL);
	page_add_noise(p, &quiet.view, NULL, NULL);
	if (differ(&guest, &plain, &d))
		page_compare_noise(p, PARTS_GUEST, PARTS_PLAIN, &guest.view, &plain.view, &d);
	jitter_diff_release(&d);
	noise_fixture_release(&guest);
	noise_fixture_release(&plain);
	noise_fixture_release(&quiet);
}

static void add_profiles(struct page *p)
{
	struct profile_case c, nothing;
	profile_case_make(&c);
	profile_case_make(&nothing);
	profile_release(&nothing.profile);
	page_add_profile(p, &c.subject, &c.listing, 1);
	page_add_profile(p, &nothing.subject, NULL, 0);
	page_compare_profiles(p, PARTS_PROFILE, PARTS_NOTHING, &c.subject, &nothing.subject,
			      &c.diff);
	profile_case_release(&c);
	profile_case_release(&nothing);
}

static void add_queries(struct page *p)
{
	struct query_fixture whole, slower, empty;
	struct ttp_comparison c = { 0 };
	struct ttp_ledger ledgers[] = { { .query = 1, .cardinality = 100000 }, { .query = 2 } };
	query_fixture_make(&whole, "whole");
	query_fixture_make(&slower, "slower");
	query_fixture_make(&empty, "empty");
	ledgers[0].wall_ns[LEDGER_RUN] = 40000000;
	ledgers[0].wall_ns[LEDGER_IO] = 11000000;
	ledgers[1].wall_ns[LEDGER_QUEUED] = 7;
	ledgers[0].et_ns = 50000000;
	page_add_query(p, &whole.view, ledgers, 2);
	page_add_query(p, &slower.view, NULL, 0);
	page_add_query(p, &empty.view, NULL, 0);
	ttp_compare(&whole.data, &whole.result, &slower.data, &slower.result, TTP_TIMES, &c);
	page_compare_queries(p, PARTS_WHOLE, PARTS_SLOWER, &whole.view, &slower.view, &c);
	ttp_comparison_release(&c);
	query_fixture_release(&whole);
	query_fixture_release(&slower);
	query_fixture_release(&empty);
}

struct page *parts_page(void)
{
	struct page *p = page_new("parts", false);
	add_noises(p);
	add_profiles(p);
	add_queries(p);
	return p;
}
