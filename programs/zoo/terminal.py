"""A terminal with a shell: starts a command in it, stops it with Ctrl-Z, goes on, ends it with Ctrl-C.

terminal.py COMMAND: prints what was seen. The command says {"mode":"until_killed"} when it is at work.
"""
import os
import pty
import re
import select
import sys
import time

pid, terminal = pty.fork()
if pid == 0:
    os.environ["PS1"] = "$ "
    os.execvp("bash", ["bash", "--noediting", "--norc", "--noprofile", "-i"])
seen = b""


def until(pattern):
    """Reads until the pattern comes; what comes before it is done with."""
    global seen
    end = time.monotonic() + 60
    while not (found := re.search(pattern, seen)):
        if time.monotonic() > end or not select.select([terminal], [], [], 60)[0]:
            sys.exit(f"{pattern} does not come: {seen}")
        seen += os.read(terminal, 4096)
    seen = seen[found.end():]
    return found


def say(text):
    os.write(terminal, text.encode())


say("stty -echo; echo be''gun; set +o history\n")
until(b"begun")
say(" ".join(sys.argv[1:]) + "\n")
until(b'"until_killed"')
say("\x1a")
until(b"Stopped")
print("stopped")
say("jobs -s | wc -l; echo jobs listed\n")
print("jobs:", until(rb"(\d+)\r?\njobs listed")[1].decode())
say("fg\n")
time.sleep(0.3)
say("\x03")
say("echo status=$?.\n")
print("status:", until(rb"status=(\d+)\.")[1].decode())
say("exit 7\n")
while True:
    try:
        if not os.read(terminal, 4096):
            break
    except OSError:
        break
print("exit:", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
