/* What the ledger calls interrupts, calls and devices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "collect/bpf/ledger.h"
#include "collect/ledger/names.h"

/* Lines as three machines have them. */
static const char interrupts[] =
	"           CPU0       CPU1       \n"
	"  1:          0          9  IO-APIC   1-edge      i8042\n"
	" 24:          1          0  IO-APIC   5-edge      ACPI:Ged\n"
	" 36:          0    1739579 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0\n"
	" 16:       1200          0  IR-IO-APIC   16-fasteoi   ehci_hcd:usb1, snd_hda_intel\n"
	" 11:     123456     123457     GICv3  27 Level     arch_timer\n"
	" 40:          0          0\n"
	"NMI:          0          0   Non-maskable interrupts\n"
	"LOC:    1495322    1507544   Local timer interrupts\n";

static void check_irq(uint32_t irq, const char *name)
{
	char out[LEDGER_NAME_SIZE];
	irq_name(interrupts, irq, out);
	assert_string_equal(out, name);
}

static void interrupts_have_names(void **state)
{
	(void)state;
	check_irq(1, "i8042");
	check_irq(24, "ACPI:Ged");
	check_irq(36, "virtio1-req.0");
	check_irq(16, "ehci_hcd:usb1, snd_hda_intel");
	check_irq(11, "arch_timer");
	check_irq(40, "");
	check_irq(3, ""); /* not the first digit of 36 */
	check_irq(99, "");
}

static void without_text_an_interrupt_has_no_name(void **state)
{
	char out[LEDGER_NAME_SIZE] = "x";
	(void)state;
	irq_name(NULL, 1, out);
	assert_string_equal(out, "");
	irq_name("", 1, out);
	assert_string_equal(out, "");
	/* cut off anywhere it must not be read past its end */
	for (size_t length = 0; length < sizeof interrupts; length++) {
		char cut[sizeof interrupts];
		memcpy(cut, interrupts, length);
		cut[length] = '\0';
		irq_name(cut, 36, out);
		assert_true(strlen(out) < LEDGER_NAME_SIZE);
	}
}

static void sources_have_names(void **state)
{
	char out[LEDGER_NAME_SIZE];
	(void)state;
	source_name(SOURCE_SOFTIRQS + 3, out);
	assert_string_equal(out, "net_rx");
	source_name(SOURCE_TIMER, out);
	assert_string_equal(out, "timer");
	source_name(SOURCE_IRQS + 470, out); /* which no machine that tests this has */
	assert_string_equal(out, "irq 470");
}

static void calls_have_classes(void **state)
{
	uint8_t classes[LEDGER_CALLS];
	char out[LEDGER_NAME_SIZE];
	(void)state;
	call_classes(classes, sizeof classes);
	assert_int_equal(classes[SYS_futex], LEDGER_FUTEX);
	assert_int_equal(classes[SYS_clock_nanosleep], LEDGER_TIMER);
	assert_int_equal(classes[SYS_read], CALL_BY_FILE);
	assert_int_equal(classes[SYS_wait4], LEDGER_CHILD);
	assert_int_equal(classes[SYS_ppoll], LEDGER_POLL);
	assert_int_equal(classes[SYS_recvmsg], LEDGER_SOCKET);
	assert_int_equal(classes[SYS_getpid], CALL_UNKNOWN);
	call_name(SYS_clock_nanosleep, out);
	assert_string_equal(out, "clock_nanosleep");
	call_name(500, out);
	assert_string_equal(out, "call 500");
	/* a machine with fewer calls than the table has */
	call_classes(classes, 3);
}

static void devices_have_names(void **state)
{
	char out[LEDGER_NAME_SIZE];
	(void)state;
	device_name(4000u << 20 | 77, out);
	assert_string_equal(out, "4000:77");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(interrupts_have_names),
		cmocka_unit_test(without_text_an_interrupt_has_no_name),
		cmocka_unit_test(sources_have_names),
		cmocka_unit_test(calls_have_classes),
		cmocka_unit_test(devices_have_names),
	};
	return cmocka_run_group_tests_name("ledger names", tests, NULL, NULL);
}
