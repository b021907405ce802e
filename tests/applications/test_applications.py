"""bench/applications: which values count as right, which lines may differ, and the refusal of what is missing."""

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from ranktree.report.arrays import packed

from tests.helpers import scripts
from tests.helpers.mpis import Mpi

application, call_times, run = scripts.load("bench/applications", "application", "call_times", "run")
RUN = Path(__file__).resolve().parents[2] / "bench/applications/run.py"

LAMMPS = """Step Temp E_pair E_mol TotEng Press
       0         1.44   -6.7733681            0   -4.6134356   -5.0197073
     100    0.7574531   -5.7585055            0   -4.6223613   0.20726105
Loop time of 2.32985 on 1 procs for 100 steps with 32000 atoms
Total wall time: 0:00:02
"""
HPCC = """||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=        0.0064738 ...... PASSED
              0 tests completed and failed residual checks,
CommWorldProcs=16
PTRANS_residual=0
MPIRandomAccess_ErrorsFraction=0
MPIFFT_maxErr=1.11886e-15
Success=1
"""


CP2K = """ GLOBAL| Total number of message passing processes                             8
     1 P_Mix/Diag. 0.40E+00    2.4     1.14453979       -57.8880897677 -5.79E+01
  Total energy:                                               -57.88808976772813
 ENERGY| Total FORCE_EVAL ( QS ) energy [a.u.]:              -58.179515696027863
 MP_Alltoall            49                   9625.
 qs_forces                            1  2.0    0.002    0.003   12.608   12.658
"""
OPENFOAM = """nProcs : 16
ExecutionTime = 0.55 s  ClockTime = 2 s
    volAverage(region0) of magSqr(U) = 0.47508786048
"""
NWCHEM = """    nproc           =        8
                 5      -75.9278877752  9.78D-06  5.17D-06      0.1
         Total SCF energy =    -75.927887775316
"""


def faults_of_hpcc(folder: Path, text: str) -> list[str]:
    """What is found wrong with this file of results."""
    (folder / "hpccoutf.txt").write_text(text, encoding="ascii")
    return application.load("hpcc").faults("", folder)


def test_the_published_lines_of_lammps_are_right(tmp_path: Path) -> None:
    assert application.load("lammps").faults(LAMMPS, tmp_path) == []


@pytest.mark.parametrize(
    ("right", "wrong", "fault"),
    [
        (
            "-4.6223613",
            "-4.6223713",
            "total energy of an atom at step 100: expected -4.62236 within 1e-06, found -4.6223713",
        ),
        ("-6.7733681", "nan", "potential energy of an atom at step 0: expected -6.77337 within 1e-07, found nan"),
        ("0.20726105", "-", "pressure at step 100: expected 0.207261 within 1e-05, found -"),
    ],
)
def test_a_wrong_value_is_named(tmp_path: Path, right: str, wrong: str, fault: str) -> None:
    assert application.load("lammps").faults(LAMMPS.replace(right, wrong), tmp_path) == [fault]


def test_output_that_stops_early_is_wrong(tmp_path: Path) -> None:
    faults = application.load("lammps").faults(LAMMPS.partition("     100")[0], tmp_path)
    assert [fault.partition(":")[2].split(", ")[-1] for fault in faults] == ["found no line", "found no line"]


def test_hpcc_is_right_by_its_file(tmp_path: Path) -> None:
    assert faults_of_hpcc(tmp_path, HPCC) == []


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Success=0", "the whole run"),
        ("CommWorldProcs=4", "ranks"),
        ("MPIFFT_maxErr=0.5", "MPIFFT's largest error"),
        ("MPIRandomAccess_ErrorsFraction=0.02", "wrong part of RandomAccess' table"),
        ("PTRANS_residual=20", "PTRANS' residual"),
    ],
)
def test_each_part_of_hpcc_can_fail(tmp_path: Path, line: str, name: str) -> None:
    key = line.partition("=")[0]
    text = re.sub(f"^{key}=.*$", line, HPCC, flags=re.MULTILINE)
    assert text != HPCC
    assert [fault.partition(":")[0] for fault in faults_of_hpcc(tmp_path, text)] == [name]


def test_one_wrong_line_of_several_is_found(tmp_path: Path) -> None:
    faults = faults_of_hpcc(tmp_path, HPCC + "              3 tests completed and failed residual checks,\n")
    assert faults == ["failed tests of HPL: expected 0 within 0, found 3"]


def test_without_its_file_nothing_of_hpcc_is_right(tmp_path: Path) -> None:
    assert len(application.load("hpcc").faults(HPCC, tmp_path)) == 7


def test_only_lines_about_time_may_differ() -> None:
    lammps = application.load("lammps")
    assert lammps.steady(LAMMPS) == LAMMPS.splitlines()[:3]


def test_the_program_in_python_meets_its_eigenvalue(tmp_path: Path) -> None:
    output = "ranks 16\nenergy 258225.719386\ndecay 0.992498335\nlargest error 4.441e-16\n"
    heat = application.load("heat")
    assert heat.faults(output, tmp_path) == []
    assert heat.faults(output.replace("e-16", "e-04"), tmp_path) != []


@pytest.mark.parametrize(
    ("name", "output", "right", "wrong", "fault"),
    [
        ("cp2k", CP2K, "-57.88808976772813", "-57.88808976779", "energy after one step"),
        ("cp2k", CP2K, "Total energy:", "SCF run NOT converged", "energy after one step"),
        ("cp2k", CP2K, "processes                             8", "processes 1", "ranks"),
        ("openfoam", OPENFOAM, "0.47508786048", "0.47508896048", "mean square on one rank"),
        ("openfoam", OPENFOAM, "nProcs : 16", "nProcs : 1", "ranks"),
        ("nwchem", NWCHEM, "-75.927887775316", "-75.9278878", "energy"),
        ("nwchem", NWCHEM, "nproc           =        8", "nproc           =        1", "ranks"),
    ],
)
def test_energies_are_compared_with_those_of_the_sources(
    tmp_path: Path, name: str, output: str, right: str, wrong: str, fault: str
) -> None:
    each = application.load(name)
    assert each.faults(output, tmp_path) == []
    assert output.replace(right, wrong) != output
    found = each.faults(output.replace(right, wrong), tmp_path)
    assert [text.partition(":")[0] for text in found] == [fault]


def test_digits_that_follow_the_order_of_sums_may_differ() -> None:
    assert application.load("cp2k").steady(CP2K) == CP2K.splitlines()[:1]
    assert application.load("nwchem").steady(NWCHEM) == NWCHEM.splitlines()[:1]


@pytest.mark.parametrize("name", application.names())
def test_the_input_is_there(tmp_path: Path, name: str) -> None:
    each = replace(application.load(name), build=())
    each.prepare(tmp_path / "run")
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == sorted(each.input)


def test_a_missing_package_is_named_with_the_command_that_installs_it() -> None:
    missing = replace(application.load("lammps"), program="no-such-program")
    with pytest.raises(application.Missing, match="lammps: no-such-program is missing: apt-get install lammps"):
        missing.command()


def test_a_program_is_needed_that_the_build_does_not_make() -> None:
    missing = replace(application.load("openfoam"), program="no-such-program")
    with pytest.raises(application.Missing, match="openfoam: no-such-program is missing: apt-get install openfoam"):
        missing.command()


def test_what_makes_the_input_sees_the_variables(tmp_path: Path) -> None:
    build = ("sh", "-c", 'test -d system && printf %s "$WM_PROJECT_DIR" > made')
    replace(application.load("openfoam"), build=build).prepare(tmp_path / "run")
    assert (tmp_path / "run/made").read_text(encoding="ascii") == "/usr/share/openfoam"


def test_a_missing_module_is_named_with_the_command_that_installs_it() -> None:
    missing = replace(application.load("heat"), modules=("no_such_module",))
    with pytest.raises(application.Missing, match="heat: no_such_module is missing: .*-m pip install no_such_module"):
        missing.command()


def test_an_unknown_application_is_refused(build_folder: Path) -> None:
    command = [sys.executable, str(RUN), "--build", str(build_folder), "nosuch"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 2
    assert f"NAME: expected one of {', '.join(application.names())}, found 'nosuch'" in result.stderr


def test_a_source_folder_must_exist(build_folder: Path) -> None:
    command = [sys.executable, str(RUN), "--build", str(build_folder), "--nas", "/no/such/folder"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 2
    assert "argument --nas: expected a folder, found '/no/such/folder'" in result.stderr


def test_a_source_folder_must_hold_the_program(tmp_path: Path) -> None:
    with pytest.raises(
        application.Missing, match="nas-ft: --nas FOLDER: expected a folder with bin/ft.A.x, found None"
    ):
        application.load("nas-ft").command()
    with pytest.raises(application.Missing, match=f"with bin/ft.A.x, found {tmp_path}"):
        application.load("nas-ft", folders={"nas": tmp_path}).command()
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/ft.A.x"
    program.touch(mode=0o755)
    assert application.load("nas-ft", folders={"nas": tmp_path}).command() == [str(program)]


def test_a_compiler_that_is_missing_is_named() -> None:
    missing = replace(application.load("fftw"), build=("no-such-compiler",))
    with pytest.raises(
        application.Missing, match="fftw: no-such-compiler is missing: apt-get install libfftw3-mpi-dev"
    ):
        missing.command()


def test_an_application_is_not_run_with_an_mpi_that_it_was_not_built_with() -> None:
    assert "mpich" in application.load("scalapack", "mpich").program
    with pytest.raises(KeyError):
        application.load("cp2k", "mpich")


def test_a_word_must_be_equal(tmp_path: Path) -> None:
    output = " Verification    =             SUCCESSFUL\n Active procs    =                       16\n"
    each = application.load("nas-is")
    assert each.faults(output, tmp_path) == []
    assert each.faults(output.replace("SUCCESSFUL", "UNSUCCESSFUL"), tmp_path) == [
        "verification: expected SUCCESSFUL, found UNSUCCESSFUL"
    ]
    assert each.faults("", tmp_path)[0] == "verification: expected SUCCESSFUL, found no line"


def test_reproducible_sums_must_agree_to_the_last_digit() -> None:
    salt = application.load("pppm")
    lines = ["Step Temp", "       5 0.01 -0.13", "Loop time of 2 on 16 procs"]
    assert salt.steady("\n".join(lines)) == lines[:1]
    assert salt.steady("\n".join(lines), bitwise=True) == lines[:2]


def test_a_build_that_fails_stops_the_run(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        replace(application.load("fftw"), build=("false",)).prepare(tmp_path / "run")


def test_served_calls_are_summed_over_communicators(tmp_path: Path) -> None:
    log = tmp_path / "collectives.log"
    assert run.served(log) == ("", "")
    log.write_text(
        "ranktree: 4 ranks on 1 node: calls: broadcast 5 of 9 not by the MPI, barrier 0 of 2 not by the MPI\n"
        "ranktree: 2 ranks on 1 node: calls: allreduce 3 of 4 not by the MPI\n",
        encoding="utf-8",
    )
    assert run.served(log) == (8, 15)


def test_means_are_over_all_applications_with_a_variant_and_long_ones() -> None:
    (report,) = scripts.load("bench/applications", "report")
    seconds = {("a", "packed"): 8.0, ("a", "plan"): 4.0, ("b", "packed"): 1.0, ("b", "plan"): 2.0, ("b", "all"): 3.0}
    rows = [
        {"application": name, "machine": "4x4", "variant": variant, "seconds": str(each)}
        for (name, variant), each in seconds.items()
    ]
    assert report.means(rows)[2:] == [
        "| 4x4 | all 2 |  |  | 1.00 |  |  |  |  |  |",
        "| 4x4 | 1 of 5 s and more |  |  | 0.50 |  |  |  |  |  |",
    ]


def test_the_report_counts_right_runs_and_takes_medians() -> None:
    (report,) = scripts.load("bench/applications", "report")
    rows = [
        {"application": "a", "machine": "4x4", "variant": "packed", "right": right, "same": "True"}
        | {"seconds": seconds, "load": "2", "bytes": "1500000", "round": seconds, "served": "3", "calls": "7"}
        for right, seconds in (("True", "1"), ("False", "2"), ("True", "9"))
    ]
    assert report.table(rows)[2:] == ["| a | 4x4 | packed | 3 | 2 | 3 | 2.0 |  | 2 | 1.5 | 3 of 7 |"]


def test_one_node_may_have_a_longer_input() -> None:
    assert application.load("fftw").arguments == ("30",)
    assert application.load("fftw", machine="4x4").arguments == ("30",)
    assert application.load("fftw", machine="one node").arguments == ("300",)


def test_an_mpi_adds_to_the_variables() -> None:
    openmpi = application.load("heat").variables
    assert openmpi.keys() >= {"MPI4PY_MPIABI", "OPENBLAS_NUM_THREADS"}
    assert application.load("heat", "mpich").variables == openmpi | {"MPI4PY_MPIABI": "mpich"}


def test_times_are_compared_round_by_round() -> None:
    (report,) = scripts.load("bench/applications", "report")
    packed = [{"round": str(number), "seconds": str(10 + 5 * number)} for number in range(6)]
    half = [{"round": row["round"], "seconds": str(float(row["seconds"]) / 2)} for row in packed]
    assert report.times_packed(packed, half[::-1]) == "0.50 (0.50 to 0.50)"
    assert report.times_packed(packed, half[:5]) == ""
    assert report.times_packed(packed[:4], half[:4]) == "0.50", "no interval"


def test_the_gallery_is_that_of_its_sources(build_folder: Path) -> None:
    command = [sys.executable, str(RUN.with_name("gallery.py")), "--build", str(build_folder), "--check"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (result.returncode, result.stdout) == (0, "")


def test_a_picture_has_a_square_for_each_pair() -> None:
    (gallery,) = scripts.load("bench/applications", "gallery")
    kinds = {"starts": ([0, 1, 3], "u4"), "columns": ([1, 0, 1], "u4"), "bytes": ([1e6, 2.0, 1e6], "f8")}
    heat = {"maps": [{name: packed(values, kind) for name, (values, kind) in kinds.items()}]}
    svg = gallery.picture(2, heat, "two ranks")
    assert svg.count("h5v5h-5z") == 3
    assert 'fill-opacity="1" d="M5 0h5v5h-5zM5 5h5v5h-5z"' in svg
    assert 'fill-opacity="0.25" d="M0 5h5v5h-5z"' in svg


def test_vector_collectives_are_found_in_the_file(tmp_path: Path) -> None:
    (calls,) = scripts.load("bench/applications", "calls")
    np.savez(tmp_path / "a.npz", collective_messages=[2, 3], collective_bytes=[60, 7])
    np.savez(tmp_path / "b.npz", p2p_messages=[2])
    assert calls.vectors_of(tmp_path / "a.npz") == (5, 67)
    assert calls.vectors_of(tmp_path / "b.npz") == (0, 0)


def test_calls_are_listed_with_the_most_bytes_first() -> None:
    (calls,) = scripts.load("bench/applications", "calls")
    report = {
        "sends": {"calls": [{"call": "MPI_Isend", "messages": 4, "bytes": 100}]},
        "calls": [
            {"operation": "Barrier", "calls": 8, "bytes": 0},
            {"operation": "Bcast", "calls": 16, "bytes": 6400},
        ],
    }
    rows = calls.rows_of("a", report, (2, 60))
    vectors = "messages of v and w collectives"
    assert [(row["call"], row["calls"]) for row in rows] == [("Bcast", 16), ("Isend", 4), (vectors, 2), ("Barrier", 8)]
    assert calls.table(rows)[2:4] == ["| a | Bcast | 16 | 400 |", "| a | Isend | 4 | 25 |"]


FORTRAN_CALLS = """program calls
  use {module}
  implicit none
  integer :: code, rank, value
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  value = rank
  call MPI_Bcast(value, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, code)
  call MPI_Barrier(MPI_COMM_WORLD, code)
  call MPI_Barrier(MPI_COMM_WORLD, code)
  if (value /= 0) error stop 1
  call MPI_Finalize(code)
end program calls
"""
C_CALLS = """#include <mpi.h>
int main(int argc, char** argv) {
  int value = 0;
  MPI_Init(&argc, &argv);
  MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Finalize();
}
"""


@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("calls.c", C_CALLS),
        ("calls.f90", FORTRAN_CALLS.format(module="mpi")),
        ("calls.f90", FORTRAN_CALLS.format(module="mpi_f08")),
    ],
    ids=["c", "mpi", "mpi_f08"],
)
def test_each_call_is_timed_once(mpi: Mpi, compiled: Callable, source: str, text: str, tmp_path: Path) -> None:
    (tmp_path / source).write_text(text, encoding="ascii")
    variables = (f"LD_PRELOAD={call_times.tool(tmp_path)}", f"CALL_TIMES={tmp_path / 'times'}")
    words = mpi.launch(3, "env", *variables, compiled(mpi.name, tmp_path / source))
    result = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, result.stderr
    lines = [line.split() for line in (tmp_path / "times").read_text(encoding="ascii").splitlines()]
    assert [line[:2] for line in lines] == [["Barrier", "6"], ["Bcast", "3"], ["program", "0"]]
    *within, whole = (float(line[2]) for line in lines)
    assert 0 < sum(within) <= whole


def test_calls_that_take_least_are_left_out_of_the_table() -> None:
    seconds = {"program": 2.0, "Allreduce": 0.5, "Wait": 0.04, "Bcast": 0.02}
    rows = [
        {"application": "heat", "machine": "4x4", "call": call, "calls": "1", "seconds": str(each)}
        for call, each in seconds.items()
    ]
    assert call_times.table(rows).splitlines()[2:] == ["| heat | 4x4 | 2.0 | 28% | Allreduce 25%, Wait 2% |"]
