/* What a process can still do after it has given up its rights; each is tried by a child. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/array.h"
#include "base/confine.h"
#include "base/file.h"

static char folder[] = "/tmp/tare-confine-XXXXXX";

static const char *in_folder(const char *name)
{
	static char path[128];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

/* The exit code of a child that does this. */
static int child(int (*does)(void))
{
	int status;
	pid_t pid = fork();
	if (pid == 0)
		_exit(does());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* A child ends with the number of the line of the first thing that it could do, or could not. */
#define REFUSED(call)                                                    \
	do {                                                             \
		if ((call) != -1 || (errno != EPERM && errno != EACCES)) \
			return __LINE__ % 256;                           \
	} while (0)
#define DONE(call)                             \
	do {                                   \
		if ((call) == -1)              \
			return __LINE__ % 256; \
	} while (0)

static int serve_confined(void)
{
	const char *const readable[] = { "/usr", "/proc", NULL };
	char *words[] = { (char *)"true", NULL };
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(9) };
	int ends[2];
	if (!confine_files(folder, readable) || !confine_rights() || !confine_calls(CONFINE_SERVER))
		return 255;
	DONE(open(in_folder("lab"), O_RDWR | O_CREAT, 0600));
	DONE(unlink(in_folder("lab")));
	DONE(open("/usr", O_RDONLY | O_DIRECTORY));
	DONE(open("/proc/self/stat", O_RDONLY));
	DONE(open("/dev/null", O_RDWR));
	REFUSED(open("/etc/shadow", O_RDONLY));
	REFUSED(open("/etc/passwd", O_RDONLY));
	REFUSED(open("/usr/tare-confine", O_RDWR | O_CREAT, 0600));
	REFUSED(open("/tmp/tare-confine", O_RDWR | O_CREAT, 0600));
	REFUSED(execv("/bin/true", words));
	REFUSED(execv("/usr/bin/true", words));
	REFUSED(socket(AF_INET, SOCK_STREAM, 0));
	REFUSED(connect(0, (struct sockaddr *)&at, sizeof at));
	REFUSED(bind(0, (struct sockaddr *)&at, sizeof at));
	REFUSED(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
	REFUSED(syscall(SYS_mount, NULL, NULL, NULL, 0, NULL));
	REFUSED(syscall(SYS_init_module, NULL, 0, NULL));
	REFUSED(syscall(SYS_bpf, 0, NULL, 0));
	REFUSED(syscall(SYS_io_uring_setup, 1, NULL));
	REFUSED(setresuid(1, 1, 1));
	DONE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends)); /* reaches nobody else */
	pid_t pid = fork(); /* a reader of program files, which confines itself further */
	DONE(pid);
	if (pid == 0)
		_exit(!confine_calls(CONFINE_READER) || open("/usr", O_RDONLY) != -1);
	int status = 0;
	DONE(waitpid(pid, &status, 0));
	return status ? 254 : 0;
}

static void a_server_has_its_folder_and_no_other_program_or_connection(void **state)
{
	(void)state;
	if (!confine_calls_known())
		skip();
	int code = child(serve_confined);
	if (code == 255)
		skip(); /* a kernel without Landlock */
	assert_int_equal(code, 0);
}

static int read_confined(void)
{
	CLOSED int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char byte;
	if (!confine_rights() || !confine_calls(CONFINE_READER))
		return 255;
	DONE(read(fd, &byte, 1)); /* what is open can be read */
	FREED char *memory = malloc(64 << 20);
	if (!memory)
		return 254;
	memset(memory, 1, 64 << 20);
	REFUSED(open("/usr", O_RDONLY));
	REFUSED(socket(AF_UNIX, SOCK_STREAM, 0));
	REFUSED(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
	REFUSED(kill(1, 0));
	return 0;
}

static void a_reader_has_only_what_is_open(void **state)
{
	(void)state;
	if (!confine_calls_known())
		skip();
	assert_int_equal(child(read_confined), 0);
}

#ifdef __x86_64__
/* The calls of 32-bit programs have other numbers: 11 is execve there, munmap here. */
static int call_old(void)
{
	struct rlimit none = { 0, 0 };
	setrlimit(RLIMIT_CORE, &none);
	if (!confine_rights() || !confine_calls(CONFINE_READER))
		return 255;
	long result;
	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(20L)
			 : "memory", "r8", "r9", "r10", "r11");
	return result > 0;
}

static int call_x32(void)
{
	struct rlimit none = { 0, 0 };
	setrlimit(RLIMIT_CORE, &none);
	if (!confine_rights() || !confine_calls(CONFINE_READER))
		return 255;
	return syscall(0x40000000 + SYS_getpid) > 0;
}

static void calls_of_another_architecture_end_the_process(void **state)
{
	(void)state;
	if (!confine_calls_known())
		skip();
	assert_int_equal(child(call_x32), -SIGSYS);
	int code = child(call_old);
	assert_true(code == -SIGSYS || code == -SIGSEGV); /* a kernel without them says SIGSEGV */
}
#endif

static int leave_root(void)
{
	if (!confine_ids(65534, 65534, NULL) || !confine_rights())
		return 255;
	gid_t groups[8];
	if (getuid() != 65534 || geteuid() != 65534 || getgid() != 65534 || getegid() != 65534 ||
	    getgroups(8, groups) != 0)
		return 1;
	REFUSED(setresuid(0, 0, 0));
	REFUSED(setresgid(0, 0, 0));
	REFUSED(setgroups(0, NULL));
	REFUSED(open(in_folder("secret"), O_RDONLY));
	return 0;
}

/* Root without capabilities reads what is root's, but not what is others'. */
static int stay_root(void)
{
	if (!confine_ids(0, 0, NULL) || !confine_rights())
		return 255;
	DONE(open(in_folder("secret"), O_RDONLY));
	REFUSED(open(in_folder("theirs"), O_RDONLY));
	REFUSED(setresuid(1, 1, 1));
	return 0;
}

static void root_that_was_left_does_not_come_back(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	CLOSED int ours = open(in_folder("secret"), O_RDWR | O_CREAT, 0600);
	CLOSED int theirs = open(in_folder("theirs"), O_RDWR | O_CREAT, 0600);
	assert_int_equal(fchown(ours, 0, 0), 0);
	assert_int_equal(fchown(theirs, 65534, 65534), 0);
	assert_int_equal(chmod(folder, 0755), 0);
	assert_int_equal(child(leave_root), 0);
	assert_int_equal(child(stay_root), 0);
	unlink(in_folder("secret"));
	unlink(in_folder("theirs"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_server_has_its_folder_and_no_other_program_or_connection),
		cmocka_unit_test(a_reader_has_only_what_is_open),
#ifdef __x86_64__
		cmocka_unit_test(calls_of_another_architecture_end_the_process),
#endif
		cmocka_unit_test(root_that_was_left_does_not_come_back),
	};
	if (!mkdtemp(folder))
		return 1;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(folder);
	return failed;
}
