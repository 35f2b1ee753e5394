/* Shared by storing, reading and rolling up a profile. Private to lab/. */
#ifndef TARE_LAB_PROFILE_ROWS_H
#define TARE_LAB_PROFILE_ROWS_H

#include "lab/sqlite.h"

#define SAMPLE_SHIFT 24 /* the slice's place in the id of a sample, as in the schema */
#define SAMPLES_LIMIT (1 << SAMPLE_SHIFT)

/* Estimated bytes of a row with its share of the indexes, without names and links. Their sum was
 * 0.4 % above the file size with stacks, 12 % without (bench/programs/profile-lab.c). */
enum profile_row_bytes {
	SAMPLE_BYTES = 20, /* also used by the view profiles */
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

/* Kept prepared, because slices arrive every few seconds for days. */
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

/* For the statements that insert a struct. */
extern const struct lab_table profile_tables[PROFILE_STATEMENTS];

/* A cache of what was stored before: dictionaries without samples, and the id of each entry. It is
 * dropped when it grows too large or others wrote. */
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
	int64_t id;    /* 0: unknown */
	bool complete; /* a location has frames; a function has code */
};
struct profile_store {
	sqlite3_stmt *statements[PROFILE_STATEMENTS];
	int64_t run;	 /* the run it caches; 0: none */
	int64_t changes; /* by others: PRAGMA data_version */
	struct profile known;
	ARRAY(struct known) ids[PROFILE_KINDS];
};

/* The store of the lab, created at the first call. */
struct profile_store *profile_store_of(struct lab *lab);
void profile_store_forget(struct profile_store *s);
/* A prepared statement without bindings; NULL with err set. */
sqlite3_stmt *profile_statement(struct lab *lab, enum profile_statement which, const char *doing,
				struct error *err);

struct sample_row {
	uint32_t slice; /* position in the caller's list */
	int64_t thread, chain, location;
	uint64_t count;
};
typedef ARRAY(struct sample_row) sample_rows;

/* Sorts by slice, thread, chain and location, and merges equal ones. */
void sample_rows_sum(sample_rows *rows);
/* Appends the samples of a stored slice. */
int lab_read_samples(struct lab *lab, int64_t slice, uint32_t as, sample_rows *rows,
		     struct error *err);
int lab_insert_samples(struct lab *lab, int64_t slice, const struct sample_row *rows, size_t count,
		       const char *doing, struct error *err);
/* Stores a new slice (*id 0) or replaces a stored one. *id becomes its id. */
int lab_put_slice(struct lab *lab, int64_t run, int64_t *id, const struct profile_slice *slice,
		  size_t rows, const char *doing, struct error *err);
/* Removes the samples of a stored slice, or the slice with its samples. */
int lab_drop(struct lab *lab, enum profile_statement which, int64_t slice, const char *doing,
	     struct error *err);

/* Fails unless the run exists and is a profile. */
int lab_need_profile(struct lab *lab, int64_t run, struct error *err);

/* Maps numbers to numbers other than 0. A zeroed map is empty. */
#define NUMBER_NONE UINT64_MAX
struct number_map {
	struct number_pair {
		uint64_t key, value;
	} * slots;
	size_t size, used;
	/* small keys, which are mostly ids of rows, have their own array */
	uint64_t *dense; /* NUMBER_NONE: not in the map */
	size_t dense_size;
};
/* The value of the key, 0 if it is new. It may be set until the next call. */
uint64_t *number_map_at(struct number_map *m, uint64_t key);
/* NULL if the key is not in the map. */
const uint64_t *number_map_find(const struct number_map *m, uint64_t key);
void number_map_release(struct number_map *m);

#endif
