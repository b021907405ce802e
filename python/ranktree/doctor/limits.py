"""Limits of the system that MPI programs run into."""

import os
import re
import resource
from collections.abc import Iterator

from ranktree.doctor.system import NOTE, OK, WARNING, Finding, System

MEGABYTE = 1 << 20
LEAST_SHARED = 256 * MEGABYTE
CAP_SYS_ADMIN = 1 << 21  # linux/capability.h
CAP_PERFMON = 1 << 38
LEAST_FILES = 1024
LEAST_LOCKED = 64 * MEGABYTE


def shared_memory(system: System) -> Iterator[Finding]:
    """/dev/shm holds what ranks of a node exchange."""
    try:
        status = os.statvfs(system.root / "dev/shm")
    except OSError:
        yield Finding("shared memory", WARNING, "/dev/shm is missing", "mount -t tmpfs tmpfs /dev/shm")
        return
    size, free = (count * status.f_frsize // MEGABYTE for count in (status.f_blocks, status.f_bavail))
    text = f"/dev/shm has {size:,} MB, {free:,} MB free"
    if free * MEGABYTE < LEAST_SHARED:
        yield Finding("shared memory", WARNING, text, "docker: --shm-size=1g; else: mount -o remount,size=1G /dev/shm")
    else:
        yield Finding("shared memory", OK, text)


def ptrace(system: System) -> Iterator[Finding]:
    """Open MPI and MPICH copy large messages straight from the other process where ptrace may read it.

    With scope 1 each rank permits it to the others (prctl), above the kernel requires CAP_SYS_PTRACE.
    """
    scope = system.text("proc/sys/kernel/yama/ptrace_scope")
    if scope in {None, "0", "1"}:
        yield Finding("ptrace", OK, "processes of one user may permit each other to read their memory")
        return
    yield Finding(
        "ptrace",
        WARNING,
        f"ptrace_scope is {scope}: Open MPI's single-copy transfers inside a node fail",
        "sysctl kernel.yama.ptrace_scope=1, OMPI_MCA_btl_vader_single_copy_mechanism=none (4), OMPI_MCA_smsc=^cma (5)",
    )


def perf(system: System) -> Iterator[Finding]:
    """Hardware counters."""
    paranoid = system.text("proc/sys/kernel/perf_event_paranoid")
    if paranoid is None:
        yield Finding("perf", NOTE, "the kernel has no performance counters")
    elif int(paranoid) > 1 and not may_count(system):
        mend = "sysctl kernel.perf_event_paranoid=1"
        yield Finding("perf", NOTE, f"perf_event_paranoid is {paranoid}: the kernel denies hardware counters", mend)
    else:
        yield Finding("perf", OK, f"perf_event_paranoid is {paranoid}; hardware counters are available")


def may_count(system: System) -> bool:
    """Whether this process has a capability to which perf_event_paranoid does not apply."""
    found = re.search(r"^CapEff:\s*([0-9a-f]+)$", system.text("proc/self/status") or "", re.MULTILINE)
    return found is not None and int(found[1], 16) & (CAP_SYS_ADMIN | CAP_PERFMON) != 0


def resources(system: System) -> Iterator[Finding]:
    """Open files, and locked memory where there is InfiniBand."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= files < LEAST_FILES:
        yield Finding("open files", WARNING, f"{files} at most", f"ulimit -n {LEAST_FILES}")
    else:
        yield Finding("open files", OK, f"{files:,} at most" if files >= 0 else "no limit")
    locked, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    if (system.root / "sys/class/infiniband").is_dir() and 0 <= locked < LEAST_LOCKED:
        mend = "ulimit -l unlimited (in /etc/security/limits.d)"
        yield Finding("locked memory", WARNING, f"{locked // 1024:,} kB at most, InfiniBand needs more", mend)


def binding(system: System) -> Iterator[Finding]:
    """The wrapper of `emit` and `run` binds with taskset."""
    path = system.program("taskset")
    if path:
        yield Finding("taskset", OK, path)
    else:
        yield Finding("taskset", WARNING, "not found: the wrapper ranktree-bind cannot bind", "install util-linux")
