"""One simulation: the settings of SMPI, the files that go with them, and the report that comes back."""

import json
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ranktree import collectives
from ranktree.simulate import memory, served
from ranktree.simulate.machine import UNITS, SimulatedMachine
from ranktree.simulate.tools import find_tools

# SMPI's option of a collective; its other options are no algorithms.
ALGORITHM = re.compile(r"(allgatherv?|allreduce|alltoallv?|barrier|bcast|gather|reduce|reduce_scatter|scatter):[\w-]+")
SELECTORS = ("ompi", "mpich", "mvapich2", "impi")
USUAL_OVERHEAD = 3e-7  # seconds, as predict has it where nothing was calibrated
POLL = 1e-7  # seconds that a look at messages takes, in MPI_Test and MPI_Iprobe
EAGER = 65536  # bytes below which a send does not wait for its receive
SHARED_FROM = 4096  # bytes of an allocation that --share-buffers folds
SHARED_BLOCK = 1 << 24  # bytes of each map of shared memory; Linux allows a process 65,530 maps
WATCH_SECONDS = 0.5
SHARED_FAILS = "--share-buffers gives large buffers wrong contents: programs that check or use what they receive fail"


@dataclass(frozen=True)
class Settings:
    """How messages and programs are simulated."""

    overhead: float = USUAL_OVERHEAD  # seconds of a rank's time for each send and each receive
    eager: int = EAGER
    selector: str = "ompi"  # whose choice of algorithms collectives follow
    measure: bool = False  # computing takes the time it takes here
    share_buffers: bool = False
    share_globals: bool = False
    memory_of_rank: int = 0  # bytes that each rank allocates
    threads: bool = False  # each rank in a thread of its own, for libraries that keep state a thread
    progress: bool = False
    time_limit: float | None = None  # seconds of this machine
    end: float | None = None  # of time.monotonic(), where several simulations share the limit
    preload: tuple[Path, ...] = ()
    variables: dict[str, str] = field(default_factory=dict)
    collectives: str | None = None  # which calls are served by Ranktree, as `ranktree run --collectives` takes it
    algorithms: tuple[str, ...] = ()  # "allreduce:rdb": SMPI's algorithm of a collective, whatever the selector

    def options(self) -> list[str]:
        """SMPI's options: exact latencies and bandwidths, nothing measured unless requested."""
        cost = f"0:{self.overhead!r}:0"
        values = {
            "network/model": "CM02",
            "network/crosstraffic": "no",
            "network/TCP-gamma": "0",
            "surf/precision": "1e-9",
            "smpi/simulate-computation": "yes" if self.measure else "no",
            "smpi/privatization": "no" if self.share_globals else "dlopen",
            "smpi/send-is-detached-thresh": str(self.eager),
            "smpi/coll-selector": self.selector,
            "smpi/test": repr(POLL),
            "smpi/iprobe": repr(POLL),
            "smpi/os": cost,
            "smpi/ois": cost,
            "smpi/or": cost,
        }
        values |= {f"smpi/{collective}": name for collective, name in (each.split(":") for each in self.algorithms)}
        if self.measure:
            values["smpi/cpu-threshold"] = "0"  # bursts below 1 us take time, too
            values["smpi/host-speed"] = "1Gf"  # of the hosts of platform_library.cpp: a second of this machine is one
        if self.threads:
            values["contexts/factory"] = "thread"
        if self.share_buffers:
            values["smpi/auto-shared-malloc-thresh"] = str(SHARED_FROM)
            values["smpi/shared-malloc"] = "global"
            values["smpi/shared-malloc-blocksize"] = str(SHARED_BLOCK)
        return [f"--cfg={name}:{value}" for name, value in values.items()] + ["--log=root.thres:warning"]


@dataclass(frozen=True)
class Result:
    """What came back."""

    code: int
    report: dict[str, Any]


def simulate(machine: SimulatedMachine, leaves: Sequence[int], command: Sequence[str], settings: Settings) -> Result:
    """Runs a program that was compiled for simulations, one rank on each of the leaves."""
    tools = find_tools()
    program = Path(command[0])
    if not program.is_file():
        raise ValueError(f"{program}: no such program")
    if "--" in command[1:]:
        raise ValueError(f"{program}: expected no argument '--', which SimGrid would remove")
    ranks, places = len(leaves), machine.tree.leaf_count
    needed = memory.estimate(ranks, places, program, not settings.share_globals, settings.memory_of_rank)
    memory.require_memory(needed, ranks, places)
    with tempfile.TemporaryDirectory(prefix="ranktree-simulate-", dir=folder_of_files()) as name:
        folder = Path(name)
        hosts, report, log = folder / "hosts", folder / "report.json", folder / "collectives"
        hosts.write_text("".join(f"leaf{leaf}\n" for leaf in leaves), encoding="ascii")
        environment = {
            **os.environ,
            **settings.variables,
            "RANKTREE_SIMULATE_MACHINE": str(machine.file),
            "RANKTREE_SIMULATE_UNIT": UNITS[machine.unit],
            "RANKTREE_SIMULATE_HOSTS": str(hosts),
            "RANKTREE_SIMULATE_REPORT": str(report),
            "RANKTREE_SIMULATE_PROGRESS": str(max(ranks // 10, 1)) if settings.progress else "0",
            "SMPI_GLOBAL_SIZE": str(ranks),
        }
        libraries = (*settings.preload, tools.platform)
        if settings.collectives is not None:
            environment |= collectives.variables(settings.collectives, log)
            collectives.begin_log(log)
            libraries = (*libraries, served.library())
        before = environment.get("LD_PRELOAD", "")
        environment["LD_PRELOAD"] = ":".join([*filter(None, [before]), *map(str, libraries)])
        words = [str(tools.starter), str(program.resolve()), *settings.options()]
        words += [f"--cfg=smpi/np:{ranks}", f"--cfg=smpi/hostfile:{hosts}", f"--cfg=smpi/tmpdir:{folder}"]
        begin = time.monotonic()
        # Behind "--" SimGrid takes no options: they are the program's.
        code = run_watched([*words, "--", str(tools.platform), *command[1:]], environment, settings)
        hint = f"; {SHARED_FAILS}" if settings.share_buffers else ""
        if not report.is_file():
            raise ValueError(f"{program}: the simulation ended with code {code}, without a report{hint}")
        found = json.loads(report.read_text(encoding="utf-8"))
        if found["aborted_ranks"]:
            ended = f"{found['aborted_ranks']:,} of {ranks:,} ranks"
            raise ValueError(f"{program}: {ended} were ended by MPI_Abort or by a deadlock; nothing is reported{hint}")
        if settings.collectives is not None:
            found["collectives"] = served.decided(settings.collectives, log)
        found["host_s"] = time.monotonic() - begin
        found["host_bytes"] = found.pop("peak_bytes")
        found["estimated_bytes"] = needed
        return Result(code, found)


def folder_of_files() -> str | None:
    """Where files go: the usual folder, unless SimGrid would take its name for several words."""
    return "/tmp" if re.search(r"[\s,]", tempfile.gettempdir()) else None  # noqa: S108  a folder of its own in it


def end_of(limit: float | None) -> float | None:
    """When a time limit that begins now ends, of time.monotonic()."""
    return None if limit is None else time.monotonic() + limit


def require_time(end: float | None, limit: float | None) -> None:
    """Refuses to go on behind the end of the limit."""
    if end is not None and time.monotonic() > end:
        raise ValueError(f"stopped: the simulation is not done after {limit:g} s (--time-limit)")


def run_watched(words: Sequence[str], environment: dict[str, str], settings: Settings) -> int:
    """The exit code. Ends the simulation, with one line, when it takes the machine's memory or more than its time."""
    free = memory.available()
    end = settings.end or end_of(settings.time_limit)
    require_time(end, settings.time_limit)
    process = subprocess.Popen(words, env=environment)
    try:
        while True:
            try:
                return process.wait(WATCH_SECONDS)
            except subprocess.TimeoutExpired:
                taken = memory.resident(process.pid)
            if taken > 0.95 * free:
                raise ValueError(f"stopped: the simulation took {memory.text(taken)} of {memory.text(free)} of memory")
            require_time(end, settings.time_limit)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
