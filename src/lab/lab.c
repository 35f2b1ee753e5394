#include "lab/lab.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/invoker.h"
#include "base/links.h"
#include "base/text.h"
#include "lab/sqlite.h"

#define SHOWN 300 /* characters of a path in an error */

int lab_damaged(struct lab *lab, struct error *err, const char *what)
{
	char shown[SHOWN];
	text_display(lab->path, shown, sizeof shown);
	error_set(err, EXIT_USAGE, "lab %s is damaged: %s; nothing was changed", shown, what);
	return error_hint(err,
			  "put the file aside and start a new one; 'sqlite3 FILE .recover' saves "
			  "what can be saved");
}

static int not_a_lab(struct lab *lab, struct error *err, const char *what)
{
	char shown[SHOWN];
	text_display(lab->path, shown, sizeof shown);
	error_set(err, EXIT_USAGE, "%s is not a tare lab: %s; nothing was changed", shown, what);
	return error_hint(err, "choose another file with --lab FILE");
}

static const char *system_reason(struct lab *lab, const char *otherwise)
{
	int number = sqlite3_system_errno(lab->db);
	return number ? strerror(number) : otherwise;
}

/* Whether the file system that holds the lab, or would, is mounted read-only. */
static bool on_read_only(const struct lab *lab)
{
	struct statvfs fs;
	char *where = xstrdup(lab->path);
	int failed = statvfs(where, &fs);
	if (failed) {
		char *slash = strrchr(where, '/');
		if (slash)
			slash[slash == where] = '\0';
		failed = statvfs(slash ? where : ".", &fs);
	}
	free(where);
	return !failed && fs.f_flag & ST_RDONLY;
}

static int read_only(const struct lab *lab, struct error *err, const char *doing)
{
	char shown[SHOWN];
	text_display(lab->path, shown, sizeof shown);
	error_set(err, EXIT_ENVIRONMENT, "cannot %s lab %s: it is on a read-only file system",
		  doing, shown);
	return error_hint(err, "use --lab FILE or TARE_LAB=FILE on another one");
}

int lab_fail(struct lab *lab, struct error *err, const char *doing)
{
	int code = sqlite3_errcode(lab->db) & 0xff;
	const char *message = sqlite3_errmsg(lab->db);
	/* after other errors it is still that of an earlier one */
	bool by_system = code == SQLITE_IOERR || code == SQLITE_CANTOPEN;
	int number = by_system ? sqlite3_system_errno(lab->db) : 0;
	char shown[SHOWN];
	text_display(lab->path, shown, sizeof shown);
	bool no_room = code == SQLITE_FULL || number == ENOSPC || number == EDQUOT;
	lab->failure = no_room ? SQLITE_FULL : code;
	if (lab->fresh)
		doing = "make";
	switch (code) {
	case SQLITE_CORRUPT:
		return lab_damaged(lab, err, message);
	case SQLITE_INTERRUPT:
		return lab_damaged(lab, err, "reading it takes longer than its size can explain");
	case SQLITE_NOTADB:
		return not_a_lab(lab, err, message);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		if (lab->patience_ms < LAB_BUSY_MS)
			error_set(err, EXIT_ENVIRONMENT,
				  "cannot %s lab %s: another program has it locked", doing, shown);
		else
			error_set(err, EXIT_ENVIRONMENT,
				  "cannot %s lab %s: another program has kept it locked for %d s",
				  doing, shown, LAB_BUSY_MS / 1000);
		/* whoever edits means a run of this lab */
		return error_hint(err, lab->mode == LAB_EDIT
					       ? "try again when it is done"
					       : "try again when it is done, or use --lab FILE");
	case SQLITE_FULL:
	case SQLITE_IOERR:
		error_set(err, EXIT_ENVIRONMENT, "cannot %s lab %s: %s%s", doing, shown,
			  code == SQLITE_FULL ? "the disk is full" : system_reason(lab, message),
			  lab->fresh ? "" : "; what was stored before is kept");
		return error_hint(err, "make room, or use --lab FILE on another disk");
	case SQLITE_CANTOPEN:
	case SQLITE_READONLY:
	case SQLITE_PERM:
		if (on_read_only(lab))
			return read_only(lab, err, doing);
		error_set(err, EXIT_ENVIRONMENT, "cannot %s lab %s: %s", doing, shown,
			  code == SQLITE_READONLY ? "it may not be written"
						  : system_reason(lab, message));
		if (no_room)
			return error_hint(err, "make room, or use --lab FILE on another disk");
		return error_hint(err, "check the permissions of the file and of its directory, "
				       "or use --lab FILE");
	default:
		return error_set(err, EXIT_ENVIRONMENT, "cannot %s lab %s: %s", doing, shown,
				 message);
	}
}

static int lab_exec(struct lab *lab, const char *sql, const char *doing, struct error *err)
{
	return sqlite3_exec(lab->db, sql, NULL, NULL, NULL) ? lab_fail(lab, err, doing) : 0;
}

/* Under sudo a home that is not there would be made by root, and be root's. */
static int need_home(const struct invoker *who, struct error *err)
{
	struct stat st;
	bool absent = stat(who->home, &st) ? errno == ENOENT || errno == ENOTDIR
					   : !S_ISDIR(st.st_mode);
	if (!absent)
		return 0;
	char shown[SHOWN];
	text_display(who->home, shown, sizeof shown);
	error_set(err, EXIT_ENVIRONMENT, "cannot make a lab: %s, the home of %s, does not exist",
		  shown, who->name);
	return error_hint(err, "say where with --lab FILE or TARE_LAB=FILE, or make that "
			       "directory");
}

static char *default_path(enum lab_mode mode, struct error *err)
{
	struct strbuf sb = { 0 };
	struct invoker who;
	invoker_get(&who);
	const char *chosen = getenv("TARE_LAB"), *data = getenv("XDG_DATA_HOME");
	const char *home = who.present ? who.home : getenv("HOME");
	if (chosen && *chosen)
		return xstrdup(chosen);
	if (data && *data == '/') {
		strbuf_printf(&sb, "%s/tare/lab.db", data);
		return strbuf_detach(&sb);
	}
	if (who.present && mode == LAB_WRITE && need_home(&who, err))
		return NULL;
	struct passwd *pw = home && *home ? NULL : getpwuid(getuid());
	if (pw)
		home = pw->pw_dir;
	if (!home || !*home) {
		error_set(err, EXIT_ENVIRONMENT, "there is no home directory to keep a lab in");
		error_hint(err, "say where with --lab FILE or TARE_LAB=FILE");
		return NULL;
	}
	strbuf_printf(&sb, "%s/.local/share/tare/lab.db", home);
	return strbuf_detach(&sb);
}

/* Makes the directories above path that are missing, for their owner only. */
static int make_directories(const char *path, struct error *err)
{
	char *copy = xstrdup(path);
	int result = 0;
	for (char *slash = strchr(copy + 1, '/'); slash && !result;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		int saved = mkdir(copy, 0700) ? errno : 0;
		if (saved && saved != EEXIST && faccessat(AT_FDCWD, copy, F_OK, AT_EACCESS)) {
			char shown[SHOWN];
			text_display(copy, shown, sizeof shown);
			error_set(err, EXIT_ENVIRONMENT,
				  "cannot make the directory %s for the lab: %s", shown,
				  strerror(saved));
			result = error_hint(err, "use --lab FILE or TARE_LAB=FILE");
		}
		*slash = '/';
	}
	free(copy);
	return result;
}

/* A file name as an SQLite URI; everything that could mean something is escaped. */
static char *immutable_uri(const char *path)
{
	struct strbuf uri = { 0 };
	strbuf_puts(&uri, "file:");
	for (const char *c = path; *c; c++) {
		if (*c == '?' || *c == '#' || *c == '%')
			strbuf_printf(&uri, "%%%02x", (unsigned)*c);
		else
			strbuf_putc(&uri, *c);
	}
	strbuf_puts(&uri, "?immutable=1");
	return strbuf_detach(&uri);
}

static void close_database(struct lab *lab)
{
	sqlite3_close(lab->db);
	lab->db = NULL;
}

static int open_database(struct lab *lab, int flags, struct error *err)
{
	bool immutable = flags & SQLITE_OPEN_URI;
	char *name = immutable ? immutable_uri(lab->path) : xstrdup(lab->path);
	/* "", ":memory:" and "file:..." mean other things to SQLite than to a user */
	if (!immutable && *name != '/') {
		struct strbuf sb = { 0 };
		strbuf_printf(&sb, "./%s", name);
		free(name);
		name = strbuf_detach(&sb);
	}
	int rc = sqlite3_open_v2(name, &lab->db,
				 flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
	free(name);
	if (rc)
		return lab_fail(lab, err, "open");
	lab_be_patient(lab, LAB_PATIENCE_NS);
	lab_distrust(lab);
	return 0;
}

static uint32_t big_endian(const unsigned char *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
	       bytes[3];
}

int64_t lab_beside_size(const struct lab *lab, const char *suffix)
{
	struct strbuf name = { 0 };
	struct stat st;
	strbuf_printf(&name, "%s%s", lab->path, suffix);
	int64_t size = stat(name.text, &st) ? -1 : st.st_size;
	strbuf_release(&name);
	return size;
}

static int version_error(struct lab *lab, int version, struct error *err)
{
	char shown[SHOWN];
	text_display(lab->path, shown, sizeof shown);
	if (version > lab_schema_version) {
		error_set(err, EXIT_USAGE,
			  "lab %s has schema version %d, this tare (%s) knows up to %d; nothing "
			  "was changed",
			  shown, version, TARE_VERSION, lab_schema_version);
		return error_hint(err, "use a newer tare, or another lab with --lab FILE");
	}
	error_set(err, EXIT_USAGE, "lab %s has the older schema version %d, this tare reads %d",
		  shown, version, lab_schema_version);
	return error_hint(err,
			  "any command that stores, like 'tare time true', brings it up to date");
}

static int missing(struct lab *lab, struct error *err)
{
	char shown[SHOWN];
	text_display(lab->path, shown, sizeof shown);
	error_set(err, EXIT_USAGE, "there is no lab at %s", shown);
	return error_hint(
		err, "'tare time', 'tare query' or whatever else measures makes it; --lab FILE "
		     "chooses another");
}

/* SQLite follows every link, so a stranger's are refused before, and dangling ones: a lab would be
 * made wherever they lead. What is there by now and is no link, another tare has just made. */
static int check_links(const struct lab *lab, struct error *err)
{
	struct invoker who;
	SCOPED(found_release) struct found found;
	struct stat st;
	char shown[SHOWN];
	invoker_get(&who);
	text_display(lab->path, shown, sizeof shown);
	int failed = links_follow(lab->path, who.present ? who.uid : geteuid(), &found);
	if (failed && errno == ELOOP) {
		error_set(err, EXIT_USAGE,
			  "cannot open lab %s: a link on the way is another user's", shown);
		return error_hint(err, "name the file itself with --lab FILE");
	}
	if (!failed && found.file < 0 &&
	    fstatat(found.folder, found.name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISLNK(st.st_mode)) {
		error_set(err, EXIT_USAGE, "cannot open lab %s: it is a link to nowhere", shown);
		return error_hint(err, "remove the link, or make the file that it names");
	}
	return 0; /* opening it says what else is wrong */
}

/* Judges what is there before it is opened. */
static int examine(struct lab *lab, struct error *err)
{
	struct stat st;
	char shown[SHOWN];
	text_display(lab->path, shown, sizeof shown);
	if (stat(lab->path, &st)) {
		if (errno != ENOENT) {
			int code = errno == ENOTDIR ? EXIT_USAGE : EXIT_ENVIRONMENT;
			return error_set(err, (enum exit_code)code, "cannot open lab %s: %s", shown,
					 strerror(errno));
		}
		lab->absent = lab->fresh = lab->mode == LAB_WRITE;
		return lab->absent ? 0 : missing(lab, err);
	}
	if (!S_ISREG(st.st_mode))
		return not_a_lab(lab, err,
				 S_ISDIR(st.st_mode) ? "it is a directory" : "it is no file");
	if (st.st_size == 0) {
		lab->fresh = lab->mode == LAB_WRITE;
		return lab->fresh ? 0 : missing(lab, err);
	}
	return 0;
}

/* The application id and version that the file itself says (a newer version may still be in a -wal
 * file), read from the file just opened without locks, journals or any file beside it, so that a
 * file of another program stays as it is. Through SQLite's own descriptor because closing one of
 * ours would drop the POSIX locks of every other connection of this process to the file. */
static int check_header(struct lab *lab, struct error *err)
{
	unsigned char header[100] = { 0 };
	sqlite3_file *file = NULL;
	sqlite3_file_control(lab->db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
	int rc = file && file->pMethods ? file->pMethods->xRead(file, header, sizeof header, 0)
					: SQLITE_CANTOPEN;
	if (rc == SQLITE_IOERR_SHORT_READ || memcmp(header, "SQLite format 3", 16) != 0)
		return not_a_lab(lab, err, "it is no database");
	if (rc)
		return lab_fail(lab, err, "read");
	if (big_endian(header + 68) != LAB_APPLICATION_ID)
		return not_a_lab(lab, err, "it is a database of another program");
	int version = (int)big_endian(header + 60);
	return version > lab_schema_version ? version_error(lab, version, err) : 0;
}

int lab_apply_schema(sqlite3 *db, int from_version)
{
	char sql[96];
	int rc = from_version ? 0 : sqlite3_exec(db, lab_schema_whole, NULL, NULL, NULL);
	for (int v = from_version; v && v < lab_schema_version && !rc; v++)
		rc = sqlite3_exec(db, lab_schema[v], NULL, NULL, NULL);
	if (!rc && from_version && from_version < LAB_UTF8_FROM)
		rc = lab_repair_names(db);
	if (rc)
		return rc;
	snprintf(sql, sizeof sql, "PRAGMA application_id = %d; PRAGMA user_version = %d",
		 LAB_APPLICATION_ID, lab_schema_version);
	rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
	return rc ? rc : lab_grow(db);
}

static int read_version(struct lab *lab, int *version, const char *doing, struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	int result = lab_prepare(lab, &stmt, "PRAGMA user_version", doing, err);
	while (lab_row(lab, stmt, doing, &result, err))
		*version = sqlite3_column_int(stmt, 0);
	return result;
}

/* Two tares may come here at once: the second waits for the first and then has nothing to do. */
static int migrate(struct lab *lab, struct error *err)
{
	static const char doing[] = "bring up to date";
	int version = 0;
	sqlite3_stmt *stmt = NULL;
	/* Takes effect when it is prepared. Executed, it would make a database of no program for
	 * others to see. An older lab gets it when it is rewritten (space.c). */
	sqlite3_prepare_v2(lab->db, "PRAGMA auto_vacuum = INCREMENTAL", -1, &stmt, NULL);
	sqlite3_finalize(stmt);
	if (lab_begin(lab, doing, err))
		return -1;
	int result = read_version(lab, &version, doing, err);
	if (!result && ((version < lab_schema_version && lab_apply_schema(lab->db, version)) ||
			(version == lab_schema_version && lab_grow(lab->db))))
		result = lab_fail(lab, err, doing);
	if (lab_finish(lab, result, doing, err))
		return -1;
	return version > lab_schema_version ? version_error(lab, version, err) : 0;
}

/* The change to WAL needs the file alone and does not wait for it by itself. Where it cannot be had
 * (some network file systems) the lab works with a rollback journal, slower. */
static int use_wal(struct lab *lab, struct error *err)
{
	for (int tries = 0; tries < LAB_BUSY_MS / 10; tries++) {
		int rc = sqlite3_exec(lab->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL) &
			 0xff;
		if (rc != SQLITE_BUSY && rc != SQLITE_LOCKED)
			return rc ? lab_fail(lab, err, "open") : 0;
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	}
	return 0;
}

/* A new file is there after a power cut only if its folder is on the disk, and so are those above
 * it that may have been made with it. */
static void sync_folders(const struct lab *lab)
{
	char *folder = xstrdup(lab->path), *slash;
	for (int level = 0; level < 3 && (slash = strrchr(folder, '/')) && slash != folder;
	     level++) {
		*slash = '\0';
		int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0) {
			fsync(fd);
			close(fd);
		}
	}
	free(folder);
}

/* Settings of the connection. The first statement that reads also makes or opens -wal and -shm. */
static int settle(struct lab *lab, struct error *err)
{
	int version = 0;
	/* Checkpoints wait for the disk, so they come at the end of a run rather than within it;
	 * the limit bounds the -wal file of a very long one. */
	if (lab_exec(lab,
		     "PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY;"
		     "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 8192;"
		     "PRAGMA cell_size_check = ON",
		     "open", err))
		return -1;
	lab->syncs = true;
	if (read_version(lab, &version, "open", err))
		return -1;
	if (version > lab_schema_version)
		return version_error(lab, version, err);
	if (lab->mode == LAB_READ && version < LAB_READABLE_FROM)
		return version_error(lab, version, err);
	if (lab_check_schema(lab, err))
		return -1;
	if (lab->mode == LAB_READ)
		return lab_stand_in(lab->db, version)
			       ? lab_fail(lab, err, "open")
			       : lab_exec(lab, "PRAGMA query_only = ON", "open", err);
	if (sqlite3_db_readonly(lab->db, "main")) {
		if (on_read_only(lab))
			return read_only(lab, err, "write");
		char shown[SHOWN];
		text_display(lab->path, shown, sizeof shown);
		error_set(err, EXIT_ENVIRONMENT, "cannot write lab %s: permission denied", shown);
		return error_hint(err, "check who owns it, or use --lab FILE");
	}
	if ((version < lab_schema_version || lab_lacks_columns(lab->db)) && migrate(lab, err))
		return -1;
	if (use_wal(lab, err))
		return -1;
	if (lab->absent)
		sync_folders(lab);
	lab->fresh = false;
	lab_mark_abandoned(lab);
	return 0;
}

/* A lab that found no room leaves its file behind, empty. */
static void remove_empty(const struct lab *lab)
{
	struct stat st;
	if (stat(lab->path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0 &&
	    lab_beside_size(lab, "-wal") < 0 && lab_beside_size(lab, "-journal") < 0)
		unlink(lab->path);
}

/* A lab in WAL mode cannot be read where -shm cannot be made, as on a full disk, unless SQLite is
 * told that nobody writes. Without a -wal file that is as good as certain. */
static bool may_be_immutable(const struct lab *lab)
{
	int code = sqlite3_errcode(lab->db) & 0xff;
	return lab->mode == LAB_READ &&
	       (code == SQLITE_CANTOPEN || code == SQLITE_READONLY ||
		lab->failure == SQLITE_FULL) &&
	       lab_beside_size(lab, "-wal") <= 0 &&
	       faccessat(AT_FDCWD, lab->path, R_OK, AT_EACCESS) == 0;
}

static int open_here(struct lab *lab, struct error *err)
{
	lab->absent = lab->fresh = false;
	if (strcmp(lab->path, LAB_IN_MEMORY) == 0) {
		/* for a run that nobody wants to keep: stored and read like any other, then gone */
		lab->mode = LAB_WRITE;
		if (sqlite3_open(":memory:", &lab->db))
			return lab_fail(lab, err, "open");
		return lab_exec(lab, "PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY", "open",
				err) || migrate(lab, err)
			       ? -1
			       : 0;
	}
	if (check_links(lab, err) || (lab->mode == LAB_WRITE && make_directories(lab->path, err)) ||
	    examine(lab, err))
		return -1;
	bool in_wal = lab_beside_size(lab, "-wal") > 0;
	int flags = SQLITE_OPEN_READWRITE | (lab->mode == LAB_WRITE ? SQLITE_OPEN_CREATE : 0);
	int result = open_database(lab, flags, err);
	if (!result && !lab->fresh)
		result = check_header(lab, err);
	if (!result)
		result = settle(lab, err);
	/* on a full disk there is no room for a -shm file, which who is alone does not need */
	if (result && lab->db && lab->mode == LAB_EDIT && lab->failure == SQLITE_FULL) {
		close_database(lab);
		result = open_database(lab, flags, err) ||
			 lab_exec(lab, "PRAGMA locking_mode = EXCLUSIVE", "open", err) ||
			 settle(lab, err);
	}
	if (result && lab->db && may_be_immutable(lab)) {
		close_database(lab);
		result = open_database(lab, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err);
		if (!result)
			result = settle(lab, err);
	}
	if (result && lab->db) {
		/* "nothing was changed" includes not moving a -wal file into it */
		sqlite3_db_config(lab->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, in_wal, NULL);
		sqlite3_finalize(lab->begin);
		sqlite3_finalize(lab->commit);
		lab->begin = lab->commit = NULL;
		close_database(lab);
	}
	if (result && lab->absent && (lab->failure == SQLITE_FULL || lab->failure == SQLITE_IOERR))
		remove_empty(lab);
	return result;
}

/* Under sudo, what to do about a file or folder that is not the user's: an older tare may have made
 * it as root. */
static void hint_at_owner(const struct lab *lab, struct error *err)
{
	struct invoker who;
	struct stat st;
	invoker_get(&who);
	FREED char *where = xstrdup(lab->path);
	if (!who.present)
		return;
	if (lstat(where, &st)) {
		char *slash = strrchr(where, '/');
		if (!slash || (slash[slash == where] = '\0', lstat(where, &st)))
			return;
	}
	if (st.st_uid == who.uid)
		return;
	char shown[SHOWN];
	text_display(where, shown, sizeof shown);
	error_hint(err, "%s may not: give it to them with 'chown %s: %s', or use --lab FILE",
		   who.name, who.name, shown);
}

int lab_open(struct lab **out, const char *path, enum lab_mode mode, struct error *err)
{
	struct error local = ERROR_INIT;
	struct lab *lab = xcalloc(1, sizeof *lab);
	bool in_memory = path && strcmp(path, LAB_IN_MEMORY) == 0;
	AS_USER(as); /* never root for another user, not even where that user may not */
	lab->mode = mode;
	int result = in_memory ? 0 : invoker_begin(&as, &local) || invoker_for_sqlite(&local);
	if (!result) {
		lab->path = path && *path ? xstrdup(path) : default_path(mode, &local);
		result = lab->path ? open_here(lab, &local) : -1;
	}
	if (result && lab->path && local.code == EXIT_ENVIRONMENT)
		hint_at_owner(lab, &local);
	if (result) {
		if (err)
			*err = local;
		lab_close(lab);
		return -1;
	}
	*out = lab;
	return 0;
}

void lab_close(struct lab *lab)
{
	if (!lab)
		return;
	lab_close_profile(lab);
	while (lab->db && sqlite3_next_stmt(lab->db, NULL))
		sqlite3_finalize(sqlite3_next_stmt(lab->db, NULL));
	close_database(lab);
	free(lab->path);
	free(lab);
}

/* Where --lab says that the lab is, its folder must be there: a typing error must not make a lab
 * that nobody finds again. Only the default place is made, which $TARE_LAB may set. */
static int need_folder(const char *path, struct error *err)
{
	struct stat st;
	const char *slash = path ? strrchr(path, '/') : NULL;
	AS_USER(as);
	if (!slash || slash == path)
		return 0;
	if (invoker_begin(&as, err))
		return -1;
	FREED char *folder = xstrndup(path, (size_t)(slash - path));
	if (stat(folder, &st) == 0 || (errno != ENOENT && errno != ENOTDIR))
		return 0; /* opening it says what else is wrong */
	char shown[SHOWN], shown_folder[SHOWN];
	text_display(path, shown, sizeof shown);
	text_display(folder, shown_folder, sizeof shown_folder);
	error_set(err, EXIT_USAGE, "cannot make lab %s: there is no folder %s", shown,
		  shown_folder);
	if (strstr(path, "://"))
		return error_hint(err,
				  "a lab is a file; 'tare query' takes addresses of databases");
	return error_hint(err, "make the folder first, or check how it is spelled");
}

struct lab *lab_access_open(struct lab_access *a, struct error *err)
{
	static const enum lab_mode modes[] = {
		[READS_LAB] = LAB_READ, [EDITS_LAB] = LAB_EDIT, [WRITES_LAB] = LAB_WRITE
	};
	assert(a->need == READS_LAB || a->need == EDITS_LAB || a->need == WRITES_LAB);
	if (!a->open && a->need == WRITES_LAB && need_folder(a->file, err))
		return NULL;
	if (!a->open && lab_open(&a->open, a->file, modes[a->need], err))
		return NULL;
	return a->open;
}

void lab_access_close(struct lab_access *a)
{
	lab_close(a->open);
	a->open = NULL;
}

void lab_be_patient(struct lab *lab, uint64_t ns)
{
	lab->failure = 0;
	lab->patience_ms = (int)(ns / 1000000);
	sqlite3_busy_timeout(lab->db, lab->patience_ms);
}

void lab_waited(struct lab *lab, uint64_t ns)
{
	lab_be_patient(lab, ns < LAB_PATIENCE_NS ? LAB_PATIENCE_NS - ns : 0);
}

const char *lab_path(const struct lab *lab)
{
	return lab->path;
}
