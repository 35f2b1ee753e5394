/* What a client may ask for, and who may: no sockets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "serve/request.h"

static struct error err;

static int parse(const char *method, const char *url)
{
	struct request r;
	int status = request_parse(&r, method, url, &err);
	request_release(&r);
	return status;
}

static void routes_are_whole_paths(void **state)
{
	(void)state;
	static const char *const fine[] = { "/", "/?token=x", "/api/runs", "/api/report?run=1",
					    "/api/events" };
	for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
		assert_int_equal(parse("GET", fine[i]), 0);
	assert_int_equal(parse("POST", "/api/runs/12"), 0);
	static const char *const nowhere[] = {
		"//",
		"/..",
		"/../etc/passwd",
		"/./",
		"/%2e%2e/",
		"/api",
		"/api/",
		"/api//runs",
		"/api/runs/",
		"/api/runs/0",
		"/api/runs/01",
		"/api/runs/-1",
		"/api/runs/1/",
		"/api/runs/99999999999999999999",
		"/api/runs%00",
		"/api/%72uns",
		"/API/runs",
		"/api/runs;x",
		"/index.html",
		"/api/runs/1%00",
		"/#x",
		"/api/runs#x",
	};
	for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++)
		assert_int_equal(parse("GET", nowhere[i]), 404);
	static const char *const bad[] = { "",	    "*",	 "http://127.0.0.1/", "x",  "/a b",
					   "/\x7f", "/\xc3\xa9", "/\\..\\",	      "/\n" };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(parse("GET", bad[i]), 400);
}

static void methods_other_than_the_known_are_refused(void **state)
{
	(void)state;
	static const char *const none[] = { "PUT",     "DELETE", "OPTIONS", "TRACE",
					    "CONNECT", "get",	 "",	    "PATCH" };
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		assert_int_equal(parse(none[i], "/"), 405);
	assert_int_equal(parse("HEAD", "/"), 0);
	assert_int_equal(parse("POST", "/"), 405);
	assert_int_equal(parse("POST", "/api/report?run=1"), 405);
	assert_int_equal(parse("GET", "/api/runs/1"), 405);
	assert_int_equal(parse("PUT", "/nowhere"), 404);
	assert_string_equal(request_methods(ROUTE_RUN), "POST");
	assert_string_equal(request_methods(ROUTE_EVENTS), "GET, HEAD");
}

static void parameters_are_checked(void **state)
{
	(void)state;
	struct request r;
	assert_int_equal(request_parse(&r, "GET",
				       "/api/runs?like=a%26b+c&most=7&before=12&&x=1&token=t"
				       "&sort=-et&skip=50",
				       &err),
			 0);
	assert_string_equal(r.like, "a&b c");
	assert_string_equal(r.token, "t");
	assert_int_equal(r.most, 7);
	assert_int_equal(r.before, 12);
	assert_int_equal(r.skip, 50);
	assert_int_equal(r.sort, SORT_ET);
	assert_false(r.up);
	request_release(&r);
	assert_int_equal(request_parse(&r, "GET", "/api/runs?sort=name&skip=0", &err), 0);
	assert_int_equal(r.skip, 0);
	assert_int_equal(r.sort, SORT_NAME);
	assert_true(r.up);
	request_release(&r);
	assert_int_equal(request_parse(&r, "GET", "/api/runs", &err), 0);
	assert_int_equal(r.sort, SORT_NUMBER);
	assert_false(r.up);
	request_release(&r);
	assert_int_equal(request_parse(&r, "GET", "/api/report?run=3&run=1&run=3&study=2", &err),
			 0);
	assert_int_equal(r.runs.count, 2);
	assert_int_equal(r.runs.items[0], 3);
	assert_int_equal(r.studies.count, 1);
	request_release(&r);
	assert_int_equal(request_parse(&r, "GET", "/api/runs?most=100000000000", &err), 0);
	assert_int_equal(r.most, REQUEST_LIST_MAX);
	request_release(&r);
	static const char *const bad[] = {
		"/api/report?run=",
		"/api/report?run=x",
		"/api/report?run=-1",
		"/api/report?run=1e3",
		"/api/report?run=0",
		"/api/runs?like=%",
		"/api/runs?like=%0",
		"/api/runs?like=%zz",
		"/api/runs?like=%00",
		"/api/runs?most=0",
		"/api/runs?before=%31x",
		"/api/runs?before=0",
		"/api/runs?skip=-1",
		"/api/runs?skip=00",
		"/api/runs?sort=",
		"/api/runs?sort=-",
		"/api/runs?sort=--et",
		"/api/runs?sort=et;DROP",
		"/?%00=1",
		("/api/report?run=1&run=2&run=3&run=4&run=5&run=6&run=7&run=8&run=9&run=10&run=11"
		 "&run=12&run=13&run=14&run=15&run=16&run=17"),
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(parse("GET", bad[i]), 400);
	char *longer = malloc(REQUEST_URL_MAX + 2);
	memset(longer, 'a', REQUEST_URL_MAX + 1);
	memcpy(longer, "/?", 2);
	longer[REQUEST_URL_MAX] = '\0';
	assert_int_equal(parse("GET", longer), 0);
	longer[REQUEST_URL_MAX] = 'a';
	longer[REQUEST_URL_MAX + 1] = '\0';
	assert_int_equal(parse("GET", longer), 414);
	free(longer);
}

static void same_questions_have_one_key(void **state)
{
	(void)state;
	struct request a, b, c;
	request_parse(&a, "GET", "/api/report?run=1&run=2&token=x", &err);
	request_parse(&b, "HEAD", "/api/report?token=y&run=1&run=2", &err);
	request_parse(&c, "GET", "/api/report?run=2&run=1", &err);
	char *one = request_key(&a), *two = request_key(&b), *three = request_key(&c);
	assert_string_equal(one, two);
	assert_string_not_equal(one, three);
	free(one);
	free(two);
	free(three);
	request_release(&a);
	request_release(&b);
	request_release(&c);
	static const char *const lists[] = { "/api/runs", "/api/runs?sort=et", "/api/runs?sort=-et",
					     "/api/runs?sort=-et&skip=1" };
	char *keys[4];
	for (int i = 0; i < 4; i++) {
		request_parse(&a, "GET", lists[i], &err);
		keys[i] = request_key(&a);
		request_release(&a);
		for (int k = 0; k < i; k++)
			assert_string_not_equal(keys[i], keys[k]);
	}
	for (int i = 0; i < 4; i++)
		free(keys[i]);
}

static void only_hosts_and_origins_of_this_server_fit(void **state)
{
	(void)state;
	struct request_place here = { "127.0.0.1", 8273 }, all = { "0.0.0.0", 80 },
			     six = { "fe80::1", 8273 };
	static const char *const fine[] = { "127.0.0.1:8273", "localhost:8273", "LOCALHOST:8273",
					    "[::1]:8273" };
	for (size_t i = 0; i < 4; i++)
		assert_true(request_host_fits(&here, fine[i]));
	static const char *const others[] = {
		"",
		":",
		":8273",
		"127.0.0.1",
		"127.0.0.1:80",
		"127.0.0.1:08273x",
		"127.0.0.1:",
		"evil.example:8273",
		"127.0.0.1.evil.example:8273",
		"localhost.:8273",
		"[::1]",
		"::1:8273",
		"[::1:8273",
		"[127.0.0.1]:8273",
		"127.0.0.2:8273",
		"10.0.0.1:8273",
		"127.0.0.1:8273@evil",
		"evil@127.0.0.1:8273",
		"0:8273",
		"127.1:8273",
		"127.0.0.1:827300000",
	};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		assert_false(request_host_fits(&here, others[i]));
	assert_true(request_host_fits(&all, "10.0.0.1"));
	assert_true(request_host_fits(&all, "[fe80::2]:80"));
	assert_false(request_host_fits(&all, "evil.example"));
	assert_true(request_host_fits(&six, "[fe80::1]:8273"));
	assert_false(request_host_fits(&six, "10.0.0.1:8273"));
	assert_true(request_origin_fits(&here, "http://127.0.0.1:8273"));
	static const char *const elsewhere[] = { "null",
						 "",
						 "https://127.0.0.1:8273",
						 "http://evil.example",
						 "http://127.0.0.1:8273/",
						 "http://127.0.0.1:1",
						 "http://",
						 "http://127.0.0.1:8273, http://x" };
	for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
		assert_false(request_origin_fits(&here, elsewhere[i]));
	assert_true(request_is_loopback("127.9.9.9") && request_is_loopback("::1"));
	assert_false(request_is_loopback("0.0.0.0") || request_is_loopback("::") ||
		     request_is_loopback("x") || request_is_loopback("10.0.0.1"));
}

static void addresses_have_many_spellings(void **state)
{
	(void)state;
	char spelled[REQUEST_ADDRESS_SIZE];
	assert_true(request_spell_address("0:0:0:0:0:0:0:1", spelled));
	assert_string_equal(spelled, "::1");
	assert_true(request_spell_address("FE80::0001", spelled));
	assert_string_equal(spelled, "fe80::1");
	assert_true(request_spell_address("127.0.0.2", spelled));
	assert_string_equal(spelled, "127.0.0.2");
	assert_false(request_spell_address("127.1", spelled));
	assert_false(request_spell_address("localhost", spelled));
	assert_false(request_spell_address("[::1]", spelled));
	/* what a browser makes of ::ffff:127.0.0.2, and one that is not normalized */
	struct request_place mapped = { "::ffff:127.0.0.2", 8273 }, odd = { "fe80:0::1", 8273 };
	assert_true(request_host_fits(&mapped, "[::ffff:7f00:2]:8273"));
	assert_true(request_origin_fits(&mapped, "http://[::ffff:7f00:2]:8273"));
	assert_false(request_host_fits(&mapped, "[::ffff:7f00:3]:8273"));
	assert_true(request_host_fits(&odd, "[fe80::1]:8273"));
	assert_true(request_is_any("0:0::0") && request_is_any("0.0.0.0") &&
		    request_is_any("::ffff:0.0.0.0"));
	assert_false(request_is_any("::1") || request_is_any("x"));
	assert_true(request_is_loopback("::ffff:127.0.0.2") && request_is_loopback("0::1"));
}

static void a_token_fits_only_as_a_whole_and_is_long_and_plain(void **state)
{
	(void)state;
	assert_true(request_token_fits("abcdefgh", "abcdefgh"));
	assert_false(request_token_fits("abcdefgh", "abcdefgi"));
	assert_false(request_token_fits("abcdefgh", "abcdefghabcdefgh"));
	assert_false(request_token_fits("abab", "ab"));
	assert_false(request_token_fits("abab", ""));
	assert_true(request_token_good("0123456789abcdef"));
	assert_false(request_token_good("0123456789abcde"));
	assert_false(request_token_good("0123456789abcde&"));
	assert_false(request_token_good("0123456789abcde\xc3\xa9"));
}

static void gzip_is_sent_only_to_who_takes_it(void **state)
{
	(void)state;
	assert_true(request_takes_gzip("gzip"));
	assert_true(request_takes_gzip("deflate, GZIP;q=0.5, br"));
	assert_true(request_takes_gzip("br,gzip"));
	assert_false(request_takes_gzip(NULL));
	assert_false(request_takes_gzip(""));
	assert_false(request_takes_gzip("gzipx, br"));
	assert_false(request_takes_gzip("gzip;q=0"));
	assert_false(request_takes_gzip("gzip;q=0.000, br"));
}

static int edit(const char *body)
{
	struct request_edit e;
	int status = request_edit_parse(&e, body, strlen(body), &err);
	request_edit_release(&e);
	return status;
}

static void a_body_is_an_object_of_known_texts(void **state)
{
	(void)state;
	struct request_edit e;
	static const char both[] = "{\"name\":\"a</script>\\u0001\",\"tags\":\"\"}";
	assert_int_equal(request_edit_parse(&e, both, strlen(both), &err), 0);
	assert_string_equal(e.name, "a</script>\x01");
	assert_string_equal(e.tags, "");
	request_edit_release(&e);
	static const char *const bad[] = { "",
					   "x",
					   "[]",
					   "{}",
					   "{\"name\":1}",
					   "{\"name\":null}",
					   "{\"name\":\"a\\u0000b\"}",
					   "{\"name\":\"a\",\"name\":\"b\"}",
					   "{\"name\":\"a\"} x",
					   "{\"name\":\"\xff\"}",
					   "\"name\"" };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(edit(bad[i]), 400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(routes_are_whole_paths),
		cmocka_unit_test(methods_other_than_the_known_are_refused),
		cmocka_unit_test(parameters_are_checked),
		cmocka_unit_test(same_questions_have_one_key),
		cmocka_unit_test(only_hosts_and_origins_of_this_server_fit),
		cmocka_unit_test(addresses_have_many_spellings),
		cmocka_unit_test(a_token_fits_only_as_a_whole_and_is_long_and_plain),
		cmocka_unit_test(gzip_is_sent_only_to_who_takes_it),
		cmocka_unit_test(a_body_is_an_object_of_known_texts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
