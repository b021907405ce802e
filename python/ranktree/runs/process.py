"""One run of a command: its time and output, and nothing left behind when it is interrupted."""

import ctypes
import os
import re
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from ranktree.child import Interrupted

GRACE_SECONDS = 5.0
LONGEST_POLL = 2**31 - 1  # milliseconds
POLL_SECONDS = 0.02
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of linux/prctl.h
SHOWN_LINES = 5


@dataclass(frozen=True)
class Outcome:
    """What a run did: exit code (minus the signal of its termination), seconds, both output streams."""

    code: int
    seconds: float
    output: str
    late: bool = False


@contextmanager
def ends_cleanly() -> Iterator[None]:
    """Within it, ending signals raise Interrupted, and processes whose parents are gone become ours to end."""

    def stop(number: int, _: FrameType | None) -> None:
        raise Interrupted(number)

    before = {number: signal.signal(number, stop) for number in ENDING}
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        ctypes.CDLL(None).prctl(SUBREAPER, 0, 0, 0, 0)


@contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """A folder that is removed at the end, also where a signal ends the block: Interrupted."""
    with ends_cleanly(), tempfile.TemporaryDirectory(prefix=prefix) as name:
        yield Path(name)


def run_once(words: Sequence[str], variables: Mapping[str, str], log: Path, limit: float | None = None) -> Outcome:
    """Runs a command in a process group of its own, its output into `log`; late or interrupted, all of it is ended."""
    with log.open("wb") as stream:
        begin = time.perf_counter()
        try:
            process = subprocess.Popen(
                words,
                env=dict(variables),
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                process_group=0,
            )
        except OSError as error:
            raise OSError(f"{words[0]}: {error.strerror}") from None
        late = False
        try:
            late = not ended(process, limit)
        finally:
            seconds = time.perf_counter() - begin
            if process.poll() is None:
                end(process)
    return Outcome(process.returncode, seconds, log.read_text(encoding="utf-8", errors="replace"), late)


def ended(process: subprocess.Popen[bytes], limit: float | None) -> bool:
    """Waits for the end of a process, `limit` seconds at most. Popen.wait(limit) sleeps up to 50 ms beyond it."""
    try:
        handle = os.pidfd_open(process.pid) if limit is not None else None
    except (AttributeError, OSError):  # before Linux 5.3
        handle = None
    try:
        if handle is not None and limit is not None:
            waiting = select.poll()
            waiting.register(handle, select.POLLIN)
            if not waiting.poll(min(1000 * limit, LONGEST_POLL)):
                return False
            limit = None
        process.wait(limit)
    except subprocess.TimeoutExpired:
        return False
    finally:
        if handle is not None:
            os.close(handle)
    return True


def end(process: subprocess.Popen[bytes]) -> None:
    """Sends SIGTERM to the group; what is still there after the grace is killed, descendants in other groups too."""
    signal_group(process.pid, signal.SIGTERM)
    try:
        process.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        signal_group(process.pid, signal.SIGKILL)
        process.wait()
    wait_for_descendants()
    for number in descendants(os.getpid()):
        send(number, signal.SIGKILL)
    wait_for_descendants()  # on a busy machine a killed process is there until it gets a processor


def wait_for_descendants() -> None:
    """Until all are gone, for the grace at most."""
    until = time.monotonic() + GRACE_SECONDS
    while descendants(os.getpid()) and time.monotonic() < until:
        reap()
        time.sleep(POLL_SECONDS)


def signal_group(group: int, number: int) -> None:
    """A signal to a process group that may be gone."""
    with suppress(ProcessLookupError):
        os.killpg(group, number)


def send(process: int, number: int) -> None:
    """A signal to a process that may be gone."""
    with suppress(ProcessLookupError):
        os.kill(process, number)


def reap() -> None:
    """Takes the exit codes of orphans that became children of this process."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def descendants(root: int) -> set[int]:
    """All processes below one, from /proc."""
    children: dict[int, list[int]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue  # ended meanwhile
        children.setdefault(int(fields[1]), []).append(int(status.parent.name))
    found, waiting = set(), [root]
    while waiting:
        below = children.get(waiting.pop(), [])
        found.update(below)
        waiting += below
    return found


def tail(output: str) -> str:
    """The last lines of an output, for an error message."""
    lines = [line.strip() for line in output.splitlines() if line.strip("- ")]
    return " | ".join(lines[-SHOWN_LINES:]) or "no message"


def measured(outcome: Outcome, pattern: "re.Pattern[str] | None") -> float:
    """The run's time: what the pattern's first group finds last in the output, else the wall time."""
    if pattern is None:
        return outcome.seconds
    found = pattern.findall(outcome.output)
    if not found:
        raise ValueError(f"--metric-regex: nothing in the output matches '{pattern.pattern}': {tail(outcome.output)}")
    text = found[-1] if isinstance(found[-1], str) else found[-1][0]
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"--metric-regex: expected a number, '{pattern.pattern}' found '{text}'") from None
    if not value > 0:
        raise ValueError(f"--metric-regex: expected a time above 0, found {value:g}")
    return value
