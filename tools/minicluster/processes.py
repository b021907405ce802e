"""Processes that outlive the command: started, recorded, and later stopped by that record only."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path


class ClusterError(RuntimeError):
    """An error, in one line."""


def start_time(pid: int) -> int | None:
    """The start time of a process in clock ticks since boot; None when there is none or it is a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def only_child(pid: int) -> int:
    """The one child of a process."""
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii"))


class Journal:
    """The file of all started processes with their start times: a process with a reused number does not count."""

    def __init__(self, path: Path) -> None:
        """The file is written when the first process starts."""
        self._path = path

    def start(self, command: Sequence[str | Path], log: Path) -> int:
        """Starts a process in a session of its own, its output in `log`, and records it."""
        with log.open("wb") as output:
            process = subprocess.Popen(
                list(map(str, command)),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        with self._path.open("a", encoding="ascii") as journal:
            journal.write(f"{process.pid} {start_time(process.pid) or 0}\n")
        return process.pid

    def _entries(self) -> list[tuple[int, int]]:
        if not self._path.exists():
            return []
        lines = self._path.read_text(encoding="ascii").splitlines()
        return [(int(pid), int(started)) for pid, started in map(str.split, lines)]

    def alive(self) -> list[int]:
        """The recorded processes that still run."""
        return [pid for pid, started in self._entries() if start_time(pid) == started]

    def all_alive(self) -> bool:
        """Whether all recorded processes still run."""
        return len(self.alive()) == len(self._entries())

    def kill(self) -> None:
        """Stops every recorded process and waits until all have exited."""
        for pid in self.alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not self.alive(), 10, "the processes of the cluster do not end")


def wait_until(condition: Callable[[], bool], seconds: float, failure: str) -> None:
    """Waits for the condition; raises ClusterError(failure) after the time limit."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise ClusterError(failure)
        time.sleep(0.005)
