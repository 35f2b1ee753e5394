/* A driver file of ODBC: whatever is in it, it is refused with a text, or what it says holds
 * together. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "subject/dbms/odbc/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct odbc_file file = { 0 };
	struct error err = ERROR_INIT;
	/* exactly as long as it is: a read beyond is seen */
	char *text = malloc(size ? size : 1);
	if (!text)
		abort();
	memcpy(text, data, size);
	if (odbc_file_parse(text, size, &file, &err)) {
		if (!*err.text || err.code != EXIT_USAGE || file.name || file.flush.count)
			abort();
	} else {
		if ((file.plan && !strstr(file.plan, "{sql}")) ||
		    (file.name && (!*file.name || strlen(file.name) > 31)) ||
		    (file.process_name && strlen(file.process_name) > 15) ||
		    (file.cold == DBMS_COLD_ONLINE && !file.flush.count))
			abort();
	}
	odbc_file_release(&file);
	free(text);
	return 0;
}
