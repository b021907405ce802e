"""`ranktree doctor`: each check on a machine made of files, then this machine."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.reports import script

pytest.importorskip("ranktree._core", reason="the extension is not built")
from ranktree import helpers
from ranktree.doctor import environment, limits, mpis
from ranktree.doctor.checks import as_text
from ranktree.doctor.system import Finding, System


@pytest.fixture
def system(tmp_path: Path) -> Callable[..., System]:
    """A machine with the given files and variables, whose PATH is one folder."""

    def make(files: dict[str, str] | None = None, is_root: bool = False, **variables: str) -> System:
        for name, text in (files or {}).items():
            path = tmp_path / "root" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        (tmp_path / "bin").mkdir(exist_ok=True)
        return System(tmp_path / "root", {"PATH": str(tmp_path / "bin"), **variables}, is_root)

    return make


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of libraries for Open MPI, whose helper cannot be started."""
    folder = tmp_path / "lib"
    folder.mkdir()
    for name in ("libranktree_preload_openmpi.so", "libranktree_world_openmpi.so"):
        (folder / name).touch()
    script(folder / "ranktree-ranks-openmpi", "exit 127")
    monkeypatch.setattr(helpers, "LIBRARY_FOLDER", folder)
    return folder


def test_helpers_of_the_standard_abi_come_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first that can serve a program is taken, and few programs are built for that ABI."""
    names = {"mpiabi1": "standard", "openmpi": "openmpi", "mpich": "mpich"}
    for name in names:
        (tmp_path / f"ranktree-ranks-{name}").touch()
    monkeypatch.setattr(helpers, "LIBRARY_FOLDER", tmp_path)
    table = {"mpis": [{"name": name, "abi": abi} for name, abi in names.items()]}
    monkeypatch.setattr(helpers, "build_table", lambda: table)
    assert list(helpers.built()) == ["mpich", "openmpi", "mpiabi1"]


def statuses(findings: object) -> list[tuple[str, str]]:
    """(check, status) of each."""
    return [(each.check, each.status) for each in findings]


def test_launchers_are_found_once_and_served_by_their_libraries(system: Callable, built: Path, tmp_path: Path) -> None:
    here = system()
    script(tmp_path / "bin" / "mpirun", "echo 'mpirun (Open MPI) 4.1.4'")
    (tmp_path / "bin" / "mpiexec").symlink_to("mpirun")
    script(tmp_path / "bin" / "mpiexec.hydra", "echo 'HYDRA build details:'; echo 'Version: 4.0.2'")
    script(tmp_path / "bin" / "mpirun.other", "echo something")
    found = {each.check: each for each in mpis.launchers(here)}
    assert sorted(found) == ["launcher mpiexec", "launcher mpiexec.hydra", "launcher mpirun.other"]
    assert found["launcher mpiexec"].status == "ok"
    assert "Open MPI 4.1.4" in found["launcher mpiexec"].found
    assert found["launcher mpiexec.hydra"].status == "warning"
    assert "no library serves it" in found["launcher mpiexec.hydra"].found
    assert "ranktree doctor --build" in found["launcher mpiexec.hydra"].mend
    assert found["launcher mpirun.other"].status == "warning"


def test_no_launcher_is_a_note(system: Callable, built: Path) -> None:
    assert statuses(mpis.launchers(system())) == [("launchers", "note")]


def test_libraries_whose_mpi_cannot_be_loaded(system: Callable, built: Path) -> None:
    (finding,) = mpis.libraries(system())
    assert (finding.check, finding.status) == ("libraries for openmpi", "warning")
    assert finding.found.startswith("trace, reorder, where")
    assert "LD_LIBRARY_PATH" in finding.mend
    script(built / "ranktree-ranks-openmpi", "echo 'Open MPI v4.1.4, package: Debian'")
    (finding,) = mpis.libraries(system())
    assert finding == Finding("libraries for openmpi", "ok", "trace, reorder, where; Open MPI 4.1.4")


def test_without_any_library_there_is_a_problem(system: Callable, built: Path) -> None:
    for path in built.iterdir():
        path.unlink()
    assert statuses(mpis.libraries(system())) == [("libraries", "problem")]


def test_root_needs_two_variables_for_open_mpi(system: Callable, tmp_path: Path) -> None:
    system()
    script(tmp_path / "bin" / "ompi_info", "true")
    both = dict.fromkeys(mpis.AS_ROOT, "1")
    assert statuses(mpis.as_root(system(is_root=True))) == [("root", "warning")]
    assert statuses(mpis.as_root(system(is_root=True, **both))) == []
    assert statuses(mpis.as_root(system(is_root=False))) == []


def test_limits_are_read_from_the_kernel(system: Callable) -> None:
    assert statuses(limits.shared_memory(system())) == [("shared memory", "warning")]
    strict = system({"proc/sys/kernel/yama/ptrace_scope": "1\n", "proc/sys/kernel/perf_event_paranoid": "3\n"})
    assert statuses(limits.ptrace(strict)) == [("ptrace", "ok")], "ranks permit it to each other"
    stricter = system({"proc/sys/kernel/yama/ptrace_scope": "2\n"})
    assert statuses(limits.ptrace(stricter)) == [("ptrace", "warning")]
    assert "OMPI_MCA_smsc=^cma" in next(iter(limits.ptrace(stricter))).mend
    assert statuses(limits.perf(strict)) == [("perf", "note")]
    capable = {"proc/self/status": "Name:\tsh\nCapEff:\t000001ffffffffff\n"}
    assert statuses(limits.perf(system(capable))) == [("perf", "ok")]
    powerless = {"proc/self/status": "Name:\tsh\nCapEff:\t00000000a80425fb\n"}
    assert statuses(limits.perf(system(powerless))) == [("perf", "note")]
    loose = system({"proc/sys/kernel/yama/ptrace_scope": "0\n", "proc/sys/kernel/perf_event_paranoid": "1\n"})
    assert statuses(limits.ptrace(loose)) == [("ptrace", "ok")]
    assert statuses(limits.perf(loose)) == [("perf", "ok")]
    assert statuses(limits.binding(loose)) == [("taskset", "warning")]


def test_variables_that_place_ranks_are_named(system: Callable, built: Path) -> None:
    assert statuses(environment.variables(system())) == [("placement variables", "ok")]
    found = list(
        environment.variables(system(I_MPI_PIN="1", RANKTREE_MPI="other", LD_PRELOAD="/x.so", RANKTREE_CART="1"))
    )
    assert statuses(found) == [
        ("placement variables", "note"),
        ("RANKTREE_MPI", "problem"),
        ("ranktree's variables", "note"),
        ("LD_PRELOAD", "note"),
    ]
    assert found[0].mend.startswith("unset I_MPI_PIN ")


def test_allocations_are_named(system: Callable, tmp_path: Path) -> None:
    assert statuses(environment.scheduler(system(PBS_JOBID="7"))) == [("allocation", "ok")]
    assert next(iter(mpis.slurm(system()))).found == "not installed"
    script(tmp_path / "bin" / "srun", "true")
    assert next(iter(mpis.slurm(system(SLURM_JOB_ID="9", SLURM_JOB_NODELIST="n[0-3]")))).found == "job 9 on n[0-3]"


def test_the_text_ends_with_the_counts() -> None:
    text = as_text([Finding("a", "problem", "x", "do y"), Finding("bb", "warning", "z"), Finding("c", "warning", "w")])
    assert text.splitlines() == [
        "PROBLEM  a   x",
        "             -> do y",
        "WARNING  bb  z",
        "WARNING  c   w",
        "1 problem, 2 warnings",
    ]


def test_this_machine(ranktree: Callable) -> None:
    result = ranktree("doctor", "--json")
    assert result.returncode in {0, 3}, result.stderr
    document = json.loads(result.stdout)
    assert (document["format"], document["version"]) == ("ranktree-doctor", 1)
    problems = [each for each in document["checks"] if each["status"] == "problem"]
    assert (result.returncode == 3) == bool(problems)
    assert {"Python", "machine", "shared memory"} <= {each["check"] for each in document["checks"]}
    text = ranktree("doctor")
    assert text.stdout.splitlines()[-1].startswith(f"{len(problems) or 'no'} problem")
