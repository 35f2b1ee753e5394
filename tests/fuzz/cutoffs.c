/* A file for `tare cutoffs import`: it is refused with a text; or what the lab takes of it comes
 * out of the lab as a file that is read as the same again. */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cmd/calibrate/cutoffs.h"
#include "lab/sqlite.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct lab *lab;
static struct machine here;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	struct error err = ERROR_INIT;
	machine_from_text(&here, "system.host=fuzz\ncpu.model=some\nkernel.release=6.1\n");
	if (lab_open(&lab, LAB_IN_MEMORY, LAB_WRITE, &err) ||
	    sqlite3_exec(lab->db, "PRAGMA journal_mode = OFF", NULL, NULL, NULL))
		abort();
	return 0;
}

static bool is_in(const struct cutoff *c, const cutoff_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(c->daemon, list->items[i].daemon) == 0 &&
		    c->from_ns == list->items[i].from_ns &&
		    c->below_ns == list->items[i].below_ns &&
		    c->cutoff_ns == list->items[i].cutoff_ns)
			return true;
	return false;
}

static void store(const struct cutoffs_file *file)
{
	struct lab_cutoffs kept = { 0 };
	struct cutoffs_file again = { 0 };
	struct error err = ERROR_INIT;
	if (lab_replace_cutoffs(lab, &here, file->cutoffs.items, file->cutoffs.count,
				file->made_at_ns, &err)) {
		if (!*err.text || err.code != EXIT_USAGE)
			abort();
		return;
	}
	if (lab_get_cutoffs(lab, &here, &kept, &err))
		abort();
	json_t *all = cutoffs_to_json(&kept, &here);
	char *text = json_dumps(all, 0);
	if (!text || cutoffs_from_json(text, strlen(text), &again, &err) ||
	    again.cutoffs.count != kept.cutoffs.count)
		abort();
	for (size_t i = 0; i < file->cutoffs.count; i++)
		if (!is_in(&file->cutoffs.items[i], &again.cutoffs))
			abort();
	free(text);
	json_decref(all);
	array_release(&again.cutoffs);
	lab_cutoffs_release(&kept);
	if (lab_remove_cutoff(lab, &here, 0, &err))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cutoffs_file file = { 0 };
	struct error err = ERROR_INIT;
	/* exactly as long as it is: a read beyond is seen */
	char *text = xmalloc(size ? size : 1);
	if (size)
		memcpy(text, data, size);
	if (cutoffs_from_json(text, size, &file, &err)) {
		if (!*err.text || err.code != EXIT_USAGE)
			abort();
	} else if (file.cutoffs.count) {
		store(&file);
	}
	array_release(&file.cutoffs);
	xfree(text);
	return 0;
}
