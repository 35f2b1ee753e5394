/* What is known of a row, named once for tables and JSON: private to report/profile/. */
#ifndef TARE_REPORT_PROFILE_FIELDS_H
#define TARE_REPORT_PROFILE_FIELDS_H

#include "report/profile/rows.h"

enum profile_field {
	ROW_NAME,
	ROW_SAMPLES,
	ROW_SHARE,
	ROW_SHARE_LOW,
	ROW_SHARE_HIGH,
	ROW_TIME,
	ROW_TOTAL_SAMPLES,
	ROW_TOTAL_SHARE,
	ROW_USER,
	ROW_KERNEL,
	ROW_CPU_SHARE,
	ROW_APP,
	ROW_NUMBER,
	ROW_PID,
	ROW_TID,
	ROW_COMM,
	ROW_STARTED,
	ROW_FIRST,
	ROW_CONTAINER,
	ROW_CGROUP,
	ROW_FUNCTION,
	ROW_INLINED,
	ROW_OFFSET,
	ROW_ADDRESS,
	ROW_OBJECT,
	ROW_OBJECT_KIND,
	ROW_BUILD_ID,
	ROW_FILE,
	ROW_LINE,
	PROFILE_FIELDS
};

/* The columns by field. */
extern const struct column profile_columns[PROFILE_FIELDS];

/* Whether rows of this view have the field. */
bool profile_has_field(enum sleepy_by by, enum profile_field field);

/* By the type of its column; text is borrowed, or in `room`. */
struct profile_value {
	bool present;
	const char *text;
	int64_t count;
	double number;
	char room[2 * BUILD_ID_MAX + 1];
};
void profile_field_of(const struct profile *p, const struct sleepy_view *v,
		      const struct sleepy_row *row, enum profile_field field,
		      struct profile_value *out);

#endif
