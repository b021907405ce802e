"""What tests of reports share: hosts as ranks print them, patterns made by a rule, scripts and their processes."""

import os
from pathlib import Path

import numpy as np

PUS = sorted(os.sched_getaffinity(0))
# Two packages of four cores with two threads each: PUs 0-7 are the first threads, 8-15 the second ones.
TEXT = """
noise
ranktree-host n0 packages 4-7,12-15 0-3,8-11
ranktree-host n0 cores 0,8 1,9 2,10 3,11 4,12 5,13 6,14 7,15
ranktree-host n0 numa 0=0-3,8-11 1=4-7,12-15
[1,0]<stdout>:ranktree-host n1 packages 0-1
ranktree-host n1 cores 0 1
ranktree-host n1 numa 0=0-1
"""


def save_stencil(path: Path, shape: tuple[int, ...], hosts: int = 0, **metadata: object) -> None:
    """A halo exchange on a grid: 1000 messages a pair, fewer bytes in each further dimension; hosts round robin."""
    from ranktree import _core  # noqa: PLC0415  a build without Python has no extension

    ranks = int(np.prod(shape))
    grid = np.arange(ranks).reshape(shape)
    ends: list[np.ndarray] = []
    sizes = []
    for axis in range(len(shape)):
        low, high = (np.take(grid, range(*cut), axis).ravel() for cut in ((0, shape[axis] - 1), (1, shape[axis])))
        ends += [np.stack([low, high]), np.stack([high, low])]
        sizes += [np.full(2 * len(low), 65536.0 / 4**axis)]
    senders, receivers = np.concatenate(ends, axis=1).astype(np.int64)
    messages = np.full(len(senders), 1000.0)
    pattern = _core.Pattern.from_pairs(ranks, senders, receivers, messages, messages * np.concatenate(sizes))
    names = [f"n{rank % hosts}" for rank in range(ranks)] if hosts else []
    pattern.metadata = {"program": "./stencil", "source": "ranktree trace", "hosts": names, **metadata}
    _core.save_pattern(str(path), pattern)


def script(path: Path, text: str) -> Path:
    """A shell script."""
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def left_of(mark: str) -> list[str]:
    """Command lines of processes that hold a mark."""
    found = []
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = line.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if mark in words:
            found.append(words)
    return found
