// What the names of causes (src/record/ledger.c) mean to people.
const meanings = new Map([
  ['run', 'on a CPU, in its own user or kernel code'],
  ['irq', 'its CPU served a hard interrupt'],
  ['softirq', 'its CPU served a soft interrupt'],
  ['nmi', 'its CPU served a non-maskable interrupt'],
  ['steal', 'the hypervisor had taken its CPU away'],
  ['queued', 'runnable, another task had its CPU'],
  ['waking', 'runnable, its idle CPU was still waking up'],
  ['throttled', 'runnable, the CPU quota of its control group was used up'],
  ['io', 'blocked on I/O, the device served the subject'],
  ['io_other', 'blocked on I/O, the device served others'],
  ['io_idle', 'blocked on I/O, the device had nothing to do'],
  ['fault', 'waiting for a page from storage'],
  ['futex', 'asleep on a lock or condition of user space'],
  ['pipe', 'asleep on a pipe'],
  ['socket', 'asleep on a socket'],
  ['timer', 'asleep until a time'],
  ['poll', 'asleep until a file or event is ready'],
  ['child', 'asleep until a child ends'],
  ['lock', 'blocked in the kernel on a lock or journal'],
  ['sleep', 'asleep on something else'],
  ['stopped', 'stopped by a signal, tracer or freezer'],
  ['unseen', 'alive, but not accounted for'],
]);

/** What a cause means; nothing where this page is older than the cause. */
export function meaning(cause: string): string {
  return meanings.get(cause) ?? '';
}
