"""Traced matrices equal the traffic that the programs expect, exactly."""

from pathlib import Path

import pytest

from tests.helpers import known_bugs
from tests.helpers.trace_files import check, each_case, read_expected

PROGRAMS = ("collectives", "communicators", "late", "neighbors", "p2p", "persistent", "rma", "threads", "vectors")


@pytest.mark.smoke_on("openmpi", 3, "p2p")
@each_case
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_sends_what_it_expects(name, ranks, mpi, traced, expect_folder):
    if name == "rma" and ranks == 1:
        known_bugs.skip(mpi, "no-window-of-one-rank")
    check(traced(ranks, mpi.program(f"trace_{name}")), read_expected(expect_folder))


@each_case
@pytest.mark.parametrize("name", ("mpi4", "sessions"))
def test_what_mpi_4_added(name, ranks, mpi, traced, expect_folder):
    if mpi.family == "openmpi":
        pytest.skip(f"{mpi.name} has no large counts, which the program uses beside what else MPI 4 added")
    check(traced(ranks, mpi.program(f"trace_{name}")), read_expected(expect_folder))


@each_case
def test_messages_of_file_access_are_not_the_programs(ranks, mpi, traced, expect_folder, tmp_path: Path):
    trace = traced(ranks, mpi.program("trace_files"), tmp_path / "data")
    check(trace, read_expected(expect_folder))


@pytest.mark.parametrize("ranks", (1, 2, 3))
def test_messages_to_spawned_processes_are_counted_as_unattributed(ranks, mpi, traced, expect_folder):
    known_bugs.skip(mpi, "no-spawn")
    check(traced(ranks, mpi.program("trace_spawn")), read_expected(expect_folder))


@pytest.mark.parametrize(("seed", "ranks"), [(1, 3), (2, 3), (3, 8)])
def test_reused_handles_are_not_confused(seed, ranks, mpi, traced, expect_folder):
    check(traced(ranks, mpi.program("trace_mixed"), seed), read_expected(expect_folder))
