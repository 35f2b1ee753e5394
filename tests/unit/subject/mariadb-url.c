#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "subject/dbms/mariadb/url.h"

static void same(const char *got, const char *want)
{
	if (want)
		assert_string_equal(got ? got : "(not given)", want);
	else
		assert_null(got);
}

static void the_parts_of_a_url_are_found(void **state)
{
	static const struct {
		const char *url;
		struct mariadb_url want;
	} rows[] = {
		{ "mariadb://", { 0 } },
		{ "mysql://h", { .host = (char *)"h" } },
		{ "mariadb:///db", { .database = (char *)"db" } },
		{ "mariadb://me@h:3307/db",
		  { .user = (char *)"me",
		    .host = (char *)"h",
		    .port = 3307,
		    .database = (char *)"db" } },
		{ "mariadb://me:p%40ss%3A%25@h/d%2Fb",
		  { .user = (char *)"me",
		    .password = (char *)"p@ss:%",
		    .host = (char *)"h",
		    .database = (char *)"d/b" } },
		{ "mariadb://me:a@b:c@h",
		  { .user = (char *)"me", .password = (char *)"a@b:c", .host = (char *)"h" } },
		{ "mariadb://me:@h", { .user = (char *)"me", .host = (char *)"h" } },
		{ "mariadb://[::1]:65535/", { .host = (char *)"::1", .port = 65535 } },
		{ "mariadb://[fe80::1]", { .host = (char *)"fe80::1" } },
		{ "mariadb://localhost/db?socket=/run/a%20b.sock&create=yes",
		  { .host = (char *)"localhost",
		    .database = (char *)"db",
		    .socket = (char *)"/run/a b.sock",
		    .create = true } },
		{ "mariadb://root@?socket=/s&create=no",
		  { .user = (char *)"root", .socket = (char *)"/s" } },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct mariadb_url u;
		struct error err = ERROR_INIT;
		print_message("%s\n", rows[i].url);
		assert_int_equal(mariadb_url_parse(rows[i].url, &u, &err), 0);
		same(u.user, rows[i].want.user);
		same(u.password, rows[i].want.password);
		same(u.host, rows[i].want.host);
		same(u.database, rows[i].want.database);
		same(u.socket, rows[i].want.socket);
		assert_int_equal(u.port, rows[i].want.port);
		assert_int_equal(u.create, rows[i].want.create);
		mariadb_url_release(&u);
	}
}

static void a_bad_url_is_refused_without_telling_its_password(void **state)
{
	static const struct {
		const char *url, *says;
	} rows[] = {
		{ "mariadb:db", "//" },
		{ "mariadb:/h/db://", "//" },
		{ "mariadb://h:0/", "'0' is no port" },
		{ "mariadb://h:65536/", "'65536' is no port" },
		{ "mariadb://h:/", "'' is no port" },
		{ "mariadb://h:33x/", "'33x' is no port" },
		{ "mariadb://[::1/", "]" },
		{ "mariadb://[::1]3306/", "only a port" },
		{ "mariadb://u%4@h/", "the user in the URL" },
		{ "mariadb://u:secret%zz@h/", "the password in the URL" },
		{ "mariadb://u:secret%00@h/", "the password in the URL" },
		{ "mariadb://h/d%", "the database in the URL" },
		{ "mariadb://h/a/b", "%2F" },
		{ "mariadb://h/d?sokcet=/x", "'sokcet' is no parameter" },
		{ "mariadb://h/d?socket", "'socket' is no parameter" },
		{ "mariadb://h/d?create=maybe", "yes or no" },
		{ "mariadb://?create=yes", "database's name" },
		{ "mariadb://h/d?socket=%2", "the socket in the URL" },
		{ "mariadb://example.org/d?socket=/s", "both" },
		{ "mariadb://localhost:1/d?socket=/s", "both" },
		{ "mariadb://u:secret/x@h/d", "behind a /" },
		{ "mariadb://u:1/secret@h/d", "behind a /" },
		{ "mariadb://u:1?secret@h/d", "behind a /" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct mariadb_url u;
		struct error err = ERROR_INIT;
		print_message("%s\n", rows[i].url);
		assert_int_equal(mariadb_url_parse(rows[i].url, &u, &err), -1);
		assert_int_equal(err.code, EXIT_USAGE);
		if (!strstr(err.text, rows[i].says))
			fail_msg("'%s' lacks '%s'", err.text, rows[i].says);
		assert_null(strstr(err.text, "secret"));
		assert_null(u.user);
		assert_null(u.host);
	}
}

static void a_misspelt_parameter_gets_a_hint(void **state)
{
	struct mariadb_url u;
	struct error err = ERROR_INIT;
	(void)state;
	assert_int_equal(mariadb_url_parse("mariadb://h/d?crate=yes", &u, &err), -1);
	assert_non_null(strstr(err.hint, "create"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_parts_of_a_url_are_found),
		cmocka_unit_test(a_bad_url_is_refused_without_telling_its_password),
		cmocka_unit_test(a_misspelt_parameter_gets_a_hint),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
