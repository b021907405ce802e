"""SUMMA and hierarchical vector processing (examples/) with several hierarchies each: hsplit-2018 §7.3 and §7.4."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from launches import Mpi, Start, figures
from rows import Row

DOUBLE = 8
SIZE, BLOCK = 1024, 128  # of SUMMA's matrices and panels
RUNS = 7
VALUES = 65536  # of a vector
SECONDS = 180


class Run(NamedTuple):
    """One program with its options."""

    program: str
    bytes: int  # broadcast or gathered at once
    arguments: list[object]
    forms: str  # the key of the compared forms in the line that it prints
    setting: str = ""


def runs(grids: list[str]) -> Iterator[Run]:
    """SUMMA on grids of ranks, with MPI_Bcast along whole rows and columns as the first form; Algorithm 5 once."""
    for grid in grids:
        rows = int(grid.split("x")[0])
        arguments: list[object] = ["--size", SIZE, "--block", BLOCK, "--grid", grid, "--groups", 2]
        yield Run("summa", SIZE // rows * BLOCK * DOUBLE, arguments, "forms", f"grid {grid}")
    yield Run("vectors", VALUES * DOUBLE, ["--values", VALUES], "hierarchies")


def application_rows(mpi: Mpi, machine: str, start: Start, grids: list[str]) -> Iterator[Row]:
    """Seconds of the slowest rank; `ratio` is the first form's median / this form's median."""
    for run in runs(grids):
        program = replace(mpi, program=mpi.program.parents[1] / "bin" / f"{run.program}_{mpi.name}")
        for line in figures(start, program, [*run.arguments, "--iterations", RUNS, "--json"], SECONDS):
            forms = line[run.forms]
            first = forms[0]["seconds_median"]
            for form in forms:
                about = ("applications", mpi.name, machine, run.setting, run.program, run.bytes, form["name"], RUNS)
                times = {"least": form["seconds_min"], "median": form["seconds_median"]}
                yield Row(*about, **times, ratio=first / form["seconds_median"])
