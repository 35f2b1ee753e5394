/* The tables of a run of noise, shared by writing and reading. Private to lab/. */
#ifndef TARE_LAB_NOISE_ROWS_H
#define TARE_LAB_NOISE_ROWS_H

#include "lab/sqlite.h"

/* In the order in which they are written and read: referenced tables come first. */
enum noise_table {
	NOISE_RUN,
	NOISE_CPU,
	NOISE_BUCKET,
	NOISE_SOURCE,
	NOISE_COMBINATION,
	NOISE_VECTOR,
	NOISE_PART,
	NOISE_LONGEST,
	NOISE_SHARE,
	NOISE_LENGTH,
	NOISE_SPEED, /* older labs lack it */
	NOISE_TABLES
};

/* After the fields come the keys ("id", or "run" to "position") and columns handled by hand. */
extern const struct lab_table noise_tables[NOISE_TABLES];

/* How the ids of noise_share and noise_length are composed, as in the schema. */
#define NOISE_RUN_SHIFT 36
#define NOISE_CPU_SHIFT 23 /* of a length; in a share this is the part */
#define NOISE_KIND_SHIFT 21
#define NOISE_OWNER_SHIFT 11
#define NOISE_RUN_LIMIT (INT64_C(1) << (63 - NOISE_RUN_SHIFT))
#define NOISE_CPU_LIMIT (1 << (NOISE_RUN_SHIFT - NOISE_CPU_SHIFT))
#define NOISE_OWNER_LIMIT (1 << (NOISE_KIND_SHIFT - NOISE_OWNER_SHIFT))
#define NOISE_BUCKET_LIMIT (1 << NOISE_OWNER_SHIFT)
#define NOISE_POSITION_LIMIT (1 << NOISE_CPU_SHIFT) /* of a share */

enum length_kind { LENGTH_SOURCE, LENGTH_INTERVAL, LENGTH_SEEN, LENGTH_TOLD };

/* Fails unless the run exists and is one of noise. */
int lab_need_noise(struct lab *lab, int64_t run, struct error *err);

#endif
