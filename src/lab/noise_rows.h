/* The tables of a run of noise, so that writing and reading cannot disagree. Private to lab/. */
#ifndef TARE_LAB_NOISE_ROWS_H
#define TARE_LAB_NOISE_ROWS_H

#include "lab/sqlite.h"

/* In the order they are written and read: what others refer to comes first. */
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
	NOISE_TABLES
};

/* Behind the fields come the keys, "id" or from "run" to "position", and what is bound and read by
 * hand. */
extern const struct lab_table noise_tables[NOISE_TABLES];

/* Ids of noise_share and noise_length, as the schema says. */
#define NOISE_RUN_SHIFT 36
#define NOISE_CPU_SHIFT 23 /* of a length; of a share this is the part */
#define NOISE_KIND_SHIFT 21
#define NOISE_OWNER_SHIFT 11
#define NOISE_RUN_LIMIT (INT64_C(1) << (63 - NOISE_RUN_SHIFT))
#define NOISE_CPU_LIMIT (1 << (NOISE_RUN_SHIFT - NOISE_CPU_SHIFT))
#define NOISE_OWNER_LIMIT (1 << (NOISE_KIND_SHIFT - NOISE_OWNER_SHIFT))
#define NOISE_BUCKET_LIMIT (1 << NOISE_OWNER_SHIFT)
#define NOISE_POSITION_LIMIT (1 << NOISE_CPU_SHIFT) /* of a share */

enum length_kind { LENGTH_SOURCE, LENGTH_INTERVAL, LENGTH_SEEN, LENGTH_TOLD };

/* The run must be there and be one of noise. */
int lab_need_noise(struct lab *lab, int64_t run, struct error *err);

#endif
