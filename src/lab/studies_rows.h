/* What storing and reading studies of daemons and their cutoffs share. Private to lab/. */
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

/* EXIT_USAGE when a cutoff is of nobody or for no program, or two overlap. */
int lab_check_cutoffs(const struct cutoff *list, size_t count, struct error *err);
/* Within a transaction: makes the cutoffs of a study those in force on the machine, and gives their
 * ids. Edited ones that they do not touch stay; where they do, the study's or the edited ones win.
 * An id is 0 where an edited one won. */
enum cutoff_winner { STUDY_WINS, EDITED_WINS };
int lab_put_in_force(struct lab *lab, const char *identity, int64_t study,
		     const struct cutoff *list, size_t count, enum cutoff_winner winner,
		     int64_t *ids, struct error *err);

#endif
