/* Shared by storing and reading studies of daemons and their cutoffs. Private to lab/. */
#ifndef TARE_LAB_STUDIES_ROWS_H
#define TARE_LAB_STUDIES_ROWS_H

#include "lab/sqlite.h"

enum study_table {
	STUDY_ROW,
	STUDY_RUN,
	STUDY_LEVEL,
	STUDY_DAEMON,
	STUDY_SEEN,
	STUDY_CUTOFF,
	STUDY_TABLES
};
extern const struct lab_table study_tables[STUDY_TABLES];

/* The identity of a stored machine. */
int lab_read_identity(struct lab *lab, int64_t machine, char identity[17], struct error *err);

/* EXIT_USAGE if a cutoff has no daemon or an invalid range, or two overlap. */
int lab_check_cutoffs(const struct cutoff *list, size_t count, struct error *err);
/* Puts the cutoffs of a study in force on the machine, within a transaction, and gives their ids.
 * Edited cutoffs that do not overlap them stay. Otherwise the winner replaces the other; an id is 0
 * if an edited cutoff won. */
enum cutoff_winner { STUDY_WINS, EDITED_WINS };
int lab_put_in_force(struct lab *lab, const char *identity, int64_t study,
		     const struct cutoff *list, size_t count, enum cutoff_winner winner,
		     int64_t *ids, struct error *err);

#endif
