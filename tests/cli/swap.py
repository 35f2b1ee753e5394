"""swap.py UID FIRST SECOND: as that user, exchanges the two names over and over, until it is killed.
A FIFO among them is kept open for reading, so that no writer waits for one."""
import ctypes
import os
import stat
import sys

RENAME_EXCHANGE = 2
AT_FDCWD = -100

os.setgroups([])
os.setgid(int(sys.argv[1]))
os.setuid(int(sys.argv[1]))
first, second = (name.encode() for name in sys.argv[2:4])
libc = ctypes.CDLL(None, use_errno=True)
kept = [os.open(name, os.O_RDWR | os.O_NONBLOCK) for name in (first, second)
        if stat.S_ISFIFO(os.lstat(name).st_mode)]
print("swapping", flush=True)
while True:
    for _ in range(1000):
        if libc.renameat2(AT_FDCWD, first, AT_FDCWD, second, RENAME_EXCHANGE):
            # whoever writes may have replaced one of them by a file
            raise OSError(ctypes.get_errno(), "renameat2")
    for fd in kept:
        try:
            os.read(fd, 65536)
        except BlockingIOError:
            pass
