#!/usr/bin/env python3
"""Runs a command on a terminal of its own and prints what it wrote there.

Usage: screen.py COLUMNSxLINES COMMAND...
"""
import fcntl
import os
import pty
import struct
import sys
import termios

columns, lines = (int(n) for n in sys.argv[1].split("x"))
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    os.execvp(sys.argv[2], sys.argv[2:])
while True:
    try:
        data = os.read(terminal, 65536)
    except OSError:  # it is closed
        break
    if not data:
        break
    sys.stdout.buffer.write(data.replace(b"\r\n", b"\n"))
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
