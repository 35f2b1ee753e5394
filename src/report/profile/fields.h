/* What is known of a row, named once for tables and JSON: private to report/profile/. */
#ifndef TARE_REPORT_PROFILE_FIELDS_H
#define TARE_REPORT_PROFILE_FIELDS_H

#include "report/profile/rows.h"

enum profile_field {
	FIELD_NAME,
	FIELD_SAMPLES,
	FIELD_SHARE,
	FIELD_SHARE_LOW,
	FIELD_SHARE_HIGH,
	FIELD_TIME,
	FIELD_TOTAL_SAMPLES,
	FIELD_TOTAL_SHARE,
	FIELD_USER,
	FIELD_KERNEL,
	FIELD_CPU_SHARE,
	FIELD_APP,
	FIELD_NUMBER,
	FIELD_PID,
	FIELD_TID,
	FIELD_COMM,
	FIELD_STARTED,
	FIELD_FIRST,
	FIELD_CONTAINER,
	FIELD_CGROUP,
	FIELD_FUNCTION,
	FIELD_INLINED,
	FIELD_OFFSET,
	FIELD_ADDRESS,
	FIELD_OBJECT,
	FIELD_OBJECT_KIND,
	FIELD_BUILD_ID,
	FIELD_FILE,
	FIELD_LINE,
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
