/* Queries by seed, in the shape of those of TTPv2's experiments: selections, equality joins and an
 * aggregate over correlation names t0, t1, ... of which t0 is the table that varies. Private to the
 * experiment's files. */
#ifndef TARE_SUBJECT_EXPERIMENT_QUERIES_H
#define TARE_SUBJECT_EXPERIMENT_QUERIES_H

#include "subject/experiment.h"

#define JOINS_MOST 7

struct query_recipe {
	uint32_t count;
	uint32_t joins;	     /* at most; up to JOINS_MOST */
	uint32_t selections; /* at most */
	double aggregates;   /* share of queries that aggregate */
	uint64_t seed;
};

/* Adds them to the experiment's, called g1, g2, ... The same for ever: SQL that every DBMS here
 * takes, no two alike, no cross products, at most one join that multiplies rows. */
int queries_generate(struct experiment *e, const struct query_recipe *recipe, struct error *err);

#endif
