"""Processes that outlive the command: started, recorded, and later ended by that record and nothing else."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path


class ClusterError(RuntimeError):
    """What went wrong, in one line."""


def start_time(pid: int) -> int | None:
    """When the process started, in clock ticks since boot; None when there is none or it is a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def only_child(pid: int) -> int:
    """The one child of a process."""
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii"))


class Journal:
    """The file naming every process that was started, with its start time: a number used again is not ours."""

    def __init__(self, path: Path) -> None:
        """Nothing is written before the first process starts."""
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
        """Whether none of the recorded processes has ended."""
        return len(self.alive()) == len(self._entries())

    def kill(self) -> None:
        """Ends every recorded process and waits until all are gone."""
        for pid in self.alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not self.alive(), 10, "the processes of the cluster do not end")


def wait_until(condition: Callable[[], bool], seconds: float, failure: str) -> None:
    """Waits for the condition; raises ClusterError(failure) when the time is up."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise ClusterError(failure)
        time.sleep(0.005)
