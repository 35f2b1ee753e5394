/* An experiment's tables in SQLite, in memory. */
#ifndef TARE_TESTS_EXPERIMENT_FIXTURE_H
#define TARE_TESTS_EXPERIMENT_FIXTURE_H

#include <sqlite3.h>

#include "subject/experiment.h"

/* A text that has to be an experiment. */
struct experiment fixture_parse(const char *text);
/* Creates tables and indexes; rows: 0 for none, else at most so many of each. The caller closes. */
sqlite3 *fixture_tables(const struct experiment *e, uint64_t rows);
/* Rows that it returns; -1: it failed (what SQLite says is printed). */
long fixture_execute(sqlite3 *db, const char *sql);
/* The first column of the first row; NULL is -1. */
long fixture_number(sqlite3 *db, const char *sql);

#endif
