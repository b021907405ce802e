"""The library on simulated ranks: splits, orders and collectives are right, and no world sees another."""

import os
import subprocess
import sys
from collections.abc import Callable
from math import prod
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).resolve().parent / "programs"
INCLUDE = Path(__file__).resolve().parents[2] / "include"
# MPI_Reduce of SMPI 3.32 aborts on one rank, which halves of three ranks or fewer have.
MACHINES = {
    "node:2 package:2 core:2": (4, 7, 8),
    "switch:2 node:3 core:2": (5, 12),
    "node:5 core:3": (13,),
}
RULES = ("native", "auto", "messages:binomial", "messages:binomial:form=lanes")


@pytest.fixture(scope="module")
def library(simgrid: None, build_folder: Path) -> tuple[object, ...]:
    """Options that compile and link a program of the library for simulations."""
    folder = build_folder / "lib"
    if not (folder / "libranktree_mpi_smpi.so").exists():
        pytest.skip("libranktree_mpi_smpi.so is not built")
    return ("-I", INCLUDE, "-L", folder, "-lranktree_mpi_smpi", f"-Wl,-rpath,{folder}")


def lines_of(output: str) -> list[str]:
    """The ranks' lines, in order."""
    return sorted(line for line in output.splitlines() if "rank " in line and ":" in line and "ranks" not in line)


def levels_of(rank: int, machine: str, ranks: int) -> str:
    """A rank's levels by arithmetic, packed: name, number of its part and of all parts, ranks in it."""
    kinds, counts = zip(*((word.split(":")[0], int(word.split(":")[1])) for word in machine.split()), strict=True)
    inside, found = list(range(ranks)), []
    for level, kind in enumerate(kinds):
        leaves = prod(counts[level + 1 :])
        parts = sorted({each // leaves for each in inside})
        if len(parts) == 1:
            continue
        inside = [each for each in inside if each // leaves == rank // leaves]
        name = "Switch0" if kind == "switch" else kind.capitalize()
        found.append(f"{name}:{parts.index(rank // leaves)}/{len(parts)}:{len(inside)}")
    return " ".join(found)


@pytest.mark.parametrize(("machine", "ranks"), [(name, n) for name, counts in MACHINES.items() for n in counts])
def test_every_rank_splits_reorders_and_calls(
    ranktree: Callable, simulated_program: Callable, library: tuple, machine: str, ranks: int
) -> None:
    """Programs check their own results; here: the levels have as many ranks as the machine."""
    program = simulated_program(PROGRAMS / "library.c", *library)
    result = ranktree("simulate", "--machine", machine, "--np", ranks, "--", program, 5)
    assert result.returncode == 0, result.stdout + result.stderr
    lines = lines_of(result.stdout)
    assert len(lines) == ranks
    assert {line.partition(" central ")[0] for line in lines} == {
        f"rank {rank}: {levels_of(rank, machine, ranks)}" for rank in range(ranks)
    }


def test_hosts_of_names_with_like_numbers_are_two_nodes(
    ranktree: Callable, simulated_program: Callable, library: tuple, machine_file: Callable
) -> None:
    """31 bits of the hash of these two names are equal, which are all that a colour has."""
    program = simulated_program(PROGRAMS / "library.c", *library)
    hosts = [{"names": name, "shape": "node"} for name in ("n3699", "n31657")]
    machine = machine_file({"hosts": hosts}, {}, {"node": "core:2"})
    result = ranktree("simulate", "--machine", machine, "--np", 4, "--", program, 5)
    assert result.returncode == 0, result.stdout + result.stderr
    assert sorted(line.split()[2] for line in lines_of(result.stdout)) == ["Node:0/2:2"] * 2 + ["Node:1/2:2"] * 2


@pytest.mark.parametrize("rules", RULES)
def test_collectives_by_rules(ranktree: Callable, simulated_program: Callable, library: tuple, rules: str) -> None:
    """Every variant by messages gives MPI's results."""
    program = simulated_program(PROGRAMS / "library.c", *library)
    options = {"env": {**os.environ, "RANKTREE_COLL": rules}}
    result = ranktree("simulate", "--machine", "node:3 core:4", "--np", 11, "--", program, 33, **options)
    assert result.returncode == 0, result.stdout + result.stderr
    assert len(lines_of(result.stdout)) == 11


@pytest.mark.parametrize("served", [None, "messages:binomial"])
def test_two_worlds_in_a_process_know_nothing_of_each_other(
    ranktree: Callable, build_folder: Path, library: tuple, tmp_path: Path, served: str | None
) -> None:
    """Two simulated worlds on different machines, together, give the lines and decisions that each gives alone."""
    program = tmp_path / "worlds"
    words = ["c++", "-std=c++17", "-isystem", "/usr/include/smpi", PROGRAMS / "worlds.cpp", "-o", program]
    subprocess.run([*map(str, words), *map(str, library), "-lsimgrid"], check=True, timeout=120)
    worlds = []
    for name, machine, ranks in (("A", "node:2 package:2 core:2", 7), ("B", "switch:2 node:3 core:2", 6)):
        assert ranktree("topo", machine, "-o", tmp_path / f"{name}.json").returncode == 0
        worlds.append(f"{name}:{tmp_path / name}.json:{ranks}")

    def lines(*which: str) -> list[str]:
        log = tmp_path / "log"
        log.write_bytes(b"")
        environment = dict(os.environ)
        if served is not None:
            preload = build_folder / "lib/libranktree_collect_smpi.so"
            environment |= {"LD_PRELOAD": str(preload), "RANKTREE_COLL": served, "RANKTREE_COLL_LOG": str(log)}
        options = ["--cfg=smpi/simulate-computation:no", "--log=root.thres:warning"]
        result = subprocess.run(
            [str(program), *which, *options], capture_output=True, text=True, timeout=120, check=True, env=environment
        )
        decided = [line for line in log.read_text(encoding="utf-8").splitlines() if "spent:" not in line]
        return sorted(result.stdout.splitlines() + decided)

    alone = [lines(world) for world in worlds]
    assert [len([line for line in each if "ranktree:" not in line]) for each in alone] == [7, 6]
    served_counts = [sum("bcast" in line or "broadcast" in line for line in each) for each in alone]
    assert served is None or min(served_counts) > 0
    assert lines(*worlds) == sorted(alone[0] + alone[1])


def test_orders_of_256_ranks_cost_what_the_engine_finds(simgrid: None, build_folder: Path) -> None:
    """The benchmark's table: no message between all pairs of ranks, and the engine's own result in either mode."""
    script = Path(__file__).resolve().parents[2] / "bench/scale/library.py"
    words = [sys.executable, script, "--build", build_folder, "--ranks", 256]
    result = subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=300, check=True)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in result.stdout.splitlines()[2:]]
    assert [row[0] for row in rows] == ["split", "central", "distributed"]
    for row in rows[1:]:
        assert int(row[3].replace(",", "")) < 256 * 255
        assert row[6] == "1.000"
