/* What storing, reading and rolling up a profile share. Private to lab/. */
#ifndef TARE_LAB_PROFILE_ROWS_H
#define TARE_LAB_PROFILE_ROWS_H

#include "lab/sqlite.h"

#define SAMPLE_SHIFT 24 /* of the slice in the id of a sample, as the schema says */
#define SAMPLES_LIMIT (1 << SAMPLE_SHIFT)

/* Bytes of a row with its part of the indexes, names and links apart: estimates. Their sum was 0.4
 * % above the file with stacks, 12 % without (bench/programs/profile-lab.c). */
enum profile_row_bytes {
	SAMPLE_BYTES = 20, /* the view profiles says it, too */
	SLICE_BYTES = 100,
	OBJECT_BYTES = 80,
	INSTANCE_BYTES = 80,
	THREAD_BYTES = 38,
	FUNCTION_BYTES = 45,
	LOCATION_BYTES = 40,
	FRAME_BYTES = 16,
	CHAIN_BYTES = 32,
	CODE_BYTES = 16,
};

/* Kept prepared: a slice comes every few seconds, for days. */
enum profile_statement {
	FIND_OBJECT,
	ADD_OBJECT,
	FIND_APP,
	ADD_APP,
	FIND_CGROUP,
	ADD_CGROUP,
	FIND_INSTANCE,
	ADD_INSTANCE,
	FIND_THREAD,
	ADD_THREAD,
	NAME_THREAD,
	FIND_FUNCTION,
	ADD_FUNCTION,
	ADD_CODE,
	FIND_LOCATION,
	ADD_LOCATION,
	MOVE_LOCATION,
	ADD_FRAME,
	FIND_CHAIN,
	ADD_CHAIN,
	FIND_SLICE,
	ADD_SLICE,
	SET_SLICE,
	DROP_SLICE,
	ADD_SAMPLE,
	READ_SAMPLES,
	DROP_SAMPLES,
	SEE_CHANGES,
	PROFILE_STATEMENTS
};

/* Of the statements that add a row of a struct. */
extern const struct lab_table profile_tables[PROFILE_STATEMENTS];

/* What was stored before, so that it need not be looked up in the lab: dictionaries without
 * samples, and the id of each entry. Forgotten when it grows too large or others wrote. */
enum profile_kind {
	KIND_OBJECT,
	KIND_APP,
	KIND_INSTANCE,
	KIND_THREAD,
	KIND_FUNCTION,
	KIND_LOCATION,
	KIND_CHAIN,
	PROFILE_KINDS
};
struct known {
	int64_t id;    /* 0: not known */
	bool complete; /* of a location: has frames; of a function: has code */
};
struct profile_store {
	sqlite3_stmt *statements[PROFILE_STATEMENTS];
	int64_t run;	 /* that is known; 0: none */
	int64_t changes; /* of others: PRAGMA data_version */
	struct profile known;
	ARRAY(struct known) ids[PROFILE_KINDS];
};

/* The store of the lab, made when there is none. */
struct profile_store *profile_store_of(struct lab *lab);
void profile_store_forget(struct profile_store *s);
/* Prepared, and without what was bound before; NULL with err set. */
sqlite3_stmt *profile_statement(struct lab *lab, enum profile_statement which, const char *doing,
				struct error *err);

struct sample_row {
	uint32_t slice; /* position in a list of the caller's */
	int64_t thread, chain, location;
	uint64_t count;
};
typedef ARRAY(struct sample_row) sample_rows;

/* Sorts by slice, thread, chain and location and makes equal ones one. */
void sample_rows_sum(sample_rows *rows);
/* Appends the samples of a stored slice. */
int lab_read_samples(struct lab *lab, int64_t slice, uint32_t as, sample_rows *rows,
		     struct error *err);
int lab_insert_samples(struct lab *lab, int64_t slice, const struct sample_row *rows, size_t count,
		       const char *doing, struct error *err);
/* Stores a slice (id 0), or stores a stored one again. *id becomes its id. */
int lab_put_slice(struct lab *lab, int64_t run, int64_t *id, const struct profile_slice *slice,
		  size_t rows, const char *doing, struct error *err);
/* The samples of a stored slice, or the slice with its samples, go. */
int lab_drop(struct lab *lab, enum profile_statement which, int64_t slice, const char *doing,
	     struct error *err);

/* The run must be there and be a profile. */
int lab_need_profile(struct lab *lab, int64_t run, struct error *err);

/* Numbers by number, as long as none is 0. A zeroed one is empty. */
#define NUMBER_NONE UINT64_MAX
struct number_map {
	struct number_pair {
		uint64_t key, value;
	} * slots;
	size_t size, used;
	/* small keys have a place of their own: most are ids of rows */
	uint64_t *dense; /* NUMBER_NONE: not there */
	size_t dense_size;
};
/* The value of the key, 0 when it is new; it may be set until the next call. */
uint64_t *number_map_at(struct number_map *m, uint64_t key);
/* NULL: not there. */
const uint64_t *number_map_find(const struct number_map *m, uint64_t key);
void number_map_release(struct number_map *m);

#endif
