/* Generates queries by seed, similar to those of TTPv2's experiments: selections, equality joins
 * and an aggregate over correlation names t0, t1, ... where t0 is the variable table. Private to
 * the experiment's files. */
#ifndef TARE_SUBJECT_EXPERIMENT_QUERIES_H
#define TARE_SUBJECT_EXPERIMENT_QUERIES_H

#include "subject/experiment.h"

#define JOINS_MOST 7

struct query_recipe {
	uint32_t count;
	uint32_t joins;	     /* at most; up to JOINS_MOST */
	uint32_t selections; /* at most */
	double aggregates;   /* share of queries with an aggregate */
	uint64_t seed;
};

/* Adds queries g1, g2, ... to the experiment. The same recipe always gives the same queries: SQL
 * that every supported DBMS accepts, all different, without cross products, and with at most one
 * join that multiplies rows. */
int queries_generate(struct experiment *e, const struct query_recipe *recipe, struct error *err);

#endif
