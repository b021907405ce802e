"""What docs/explanation/threat-model.md promises of files, imports and shared memory."""

import os
import re
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from ranktree import collectives, verify
from ranktree.child import Child
from ranktree.launcher import LaunchCommand
from ranktree.notebook.pattern import Pattern
from ranktree.notebook.pictures import Picture
from ranktree.notebook.report import Report

from tests.helpers.mpis import Mpi

LASTING = Path(__file__).parents[1] / "pmpi" / "lasting.c"
SEGMENT = re.compile(r"^(\w+-\w+) .* /dev/shm/(ranktree-\S+) \(deleted\)$", re.M)


class Trap:
    """Unpickled, it makes a file."""

    def __reduce__(self) -> tuple:
        """The call that pickle makes when it reads this."""
        return os.mkdir, ("trapped",)


def test_an_output_replaces_a_link_and_does_not_follow_it(ranktree, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("kept\n", encoding="ascii")
    np.save(tmp_path / "ring.npy", np.roll(np.eye(4), 1, axis=1))
    for name, words in {
        "pattern.csv": ("convert", "ring.npy", "-o"),
        "plan.json": ("map", "ring.npy", "--machine", "node:2 core:2", "-o"),
        "machine.json": ("topo", "node:2 core:2", "-o"),
        "report.html": ("report", "ring.npy", "--machine", "node:2 core:2", "-o"),
        "costs.svg": ("predict", "bcast", "--np", 2, "--machine", "node:2 core:2", "--plot"),
    }.items():
        output = tmp_path / name
        output.symlink_to(victim)
        result = ranktree(*words, name, cwd=tmp_path)
        assert result.returncode == 0, result.stderr
        assert not output.is_symlink()
        assert output.stat().st_size > 0
    assert victim.read_text(encoding="ascii") == "kept\n"


@pytest.fixture
def linked(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """Makes a link to a file that must stay as it is, in a folder that every user may write to."""
    victim = tmp_path / "victim"
    victim.write_text("kept\n", encoding="ascii")
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)

    def link(name: str) -> Path:
        (shared / name).symlink_to(victim)
        return shared / name

    yield link
    assert victim.read_text(encoding="ascii") == "kept\n"


def test_man_pages_replace_a_link(ranktree, linked: Callable[..., Path]) -> None:
    page = linked("ranktree-map.1")
    assert ranktree("manual", "-o", page.parent).returncode == 0
    assert not page.is_symlink()
    assert page.read_text(encoding="utf-8").startswith(".TH RANKTREE")


def test_pages_and_pictures_of_notebooks_replace_a_link(linked: Callable[..., Path]) -> None:
    shown = Report(Pattern.from_matrix(np.roll(np.eye(4), 1, axis=1)), machine="node:2 core:2")
    for saved, text in ((shown, shown.html), (Picture("<svg/>"), "<svg/>")):
        path = linked(f"{type(saved).__name__}.html")
        saved.save(path)
        assert not path.is_symlink()
        assert path.read_text(encoding="utf-8") == text


def test_the_log_of_collectives_is_a_new_file_and_no_link(
    ranktree, tmp_path: Path, linked: Callable[..., Path]
) -> None:
    """A hard link, too, keeps the file that has another name. A device stays."""
    log = linked("log")
    result = ranktree("run", "--collectives", "native", "--collectives-log", log, "--", "true")
    assert (result.returncode, result.stderr.count("\n")) == (1, 1)
    assert f"--collectives-log: {log}: a symbolic link" in result.stderr
    log.unlink()
    log.hardlink_to(tmp_path / "victim")
    result = ranktree("run", "--collectives", "native", "--collectives-log", log, "--", "no-such-program")
    assert (result.returncode, log.read_bytes() == b"") == (1, False)
    collectives.begin_log(log)
    assert log.read_bytes() == b""
    collectives.begin_log(Path(os.devnull))
    assert Path(os.devnull).is_char_device()


def test_what_helper_programs_print_and_the_probe_are_new_files(linked: Callable[..., Path]) -> None:
    output = linked("output")
    assert Child(["echo", "printed"], os.environ).run(output=output) == 0
    assert (output.is_symlink(), output.read_text(encoding="ascii")) == (False, "printed\n")
    probe = linked(verify.PROBE)
    command = LaunchCommand([], "srun", "slurm", (), program=["sh"])  # no helper is for a program without an MPI
    assert verify.stand_in(command, probe.parent) == str(probe)
    assert not probe.is_symlink()
    assert os.access(probe, os.X_OK)


def test_a_placed_run_follows_no_links_in_the_folder_of_its_files(
    mpi: Mpi, ranktree, tmp_path: Path, linked: Callable[..., Path]
) -> None:
    np.save(tmp_path / "pair.npy", np.ones((2, 2)))
    names = {"machine.json", "plan.json", "verify.output", "verify.errors", "rankfile", "hostfile"}
    folder = {linked(name).parent for name in names}.pop()
    words = ("run", "--pattern", "pair.npy", "--verify-hosts", "--folder", folder)
    result = ranktree(*words, "--", *mpi.launch(2, "true"), cwd=tmp_path, timeout=60)
    assert result.returncode == 0, result.stderr
    written = {name for name in names if not (folder / name).is_symlink()}
    assert written >= {"machine.json", "plan.json"}
    assert not written & {"verify.output", "verify.errors"}, "they are in a folder of their own"


def test_pickled_objects_are_not_read(ranktree, tmp_path: Path) -> None:
    np.save(tmp_path / "trap.npy", np.array([[Trap()]], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "trap.npz", ranks=np.array([Trap()], dtype=object))
    for name in ("trap.npy", "trap.npz"):
        for words in (("map", name, "--machine", "core:2"), ("report", name), ("convert", name, "-o", "a.csv")):
            result = ranktree(*words, cwd=tmp_path)
            assert (result.returncode, result.stderr.count("\n")) == (1, 1), result.stderr
    assert not (tmp_path / "trapped").exists()


@pytest.mark.parametrize("module", ["json", "numpy", "ranktree"])
def test_modules_of_the_current_folder_are_not_imported(ranktree, tmp_path: Path, module: str) -> None:
    (tmp_path / f"{module}.py").write_text("import os\nos.mkdir('trapped')\n", encoding="ascii")
    for variables in ({}, {"PYTHONPATH": str(tmp_path)}):
        result = ranktree("topo", "node:2 core:2", "--json", cwd=tmp_path, env=os.environ | variables)
        assert result.returncode == 0, result.stderr
    assert not (tmp_path / "trapped").exists()


@pytest.mark.parametrize("algorithm", ["tmpdir:/tmp", "privatize-libs:libapp.so", "bcast:a,b", "bcast"])
def test_an_algorithm_of_a_simulation_is_no_other_option_of_simgrid(ranktree, algorithm: str) -> None:
    result = ranktree("simulate", "--np", 2, "--algorithm", algorithm, "--", "app")
    assert result.returncode == 2
    assert f"expected COLLECTIVE:NAME, found '{algorithm}'" in result.stderr


def test_peers_do_not_import_modules_of_the_current_folder(ranktree, tmp_path: Path) -> None:
    """Each runs in a process of its own (`map --compare`)."""
    np.save(tmp_path / "ring.npy", np.roll(np.eye(4), 1, axis=1))
    (tmp_path / "numpy.py").write_text("import os\nos.mkdir('trapped')\n", encoding="ascii")
    result = ranktree("map", "ring.npy", "--machine", "node:2 core:2", "--compare", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert not (tmp_path / "trapped").exists()


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_outputs_have_the_permissions_of_the_umask(ranktree, tmp_path: Path, umask: int, mode: int) -> None:
    np.save(tmp_path / "ring.npy", np.roll(np.eye(4), 1, axis=1))
    machine = ("--machine", "node:2 core:2")
    for words in (
        ("convert", "ring.npy", "-o", "ring.npz"),
        ("map", "ring.npy", *machine, "-o", "plan.json"),
        ("report", "ring.npy", *machine, "-o", "report.html"),
    ):
        result = ranktree(*words, cwd=tmp_path, umask=umask)
        assert result.returncode == 0, result.stderr
        assert stat.S_IMODE((tmp_path / words[-1]).stat().st_mode) == mode


def test_the_folder_of_a_plans_files_has_a_random_name_and_one_writer(ranktree, mpi: Mpi, tmp_path: Path) -> None:
    np.save(tmp_path / "pair.npy", np.ones((2, 2)))
    assert ranktree("map", "pair.npy", "--machine", "core:2", "-o", "plan.json", cwd=tmp_path).returncode == 0
    show = ("sh", "-c", "stat -c 'mode %a %n' .ranktree-*")
    names = set()
    for _ in range(2):
        launch = mpi.launch(2, *show)
        result = ranktree("run", "--plan", "plan.json", "--", *launch, cwd=tmp_path, umask=0, timeout=60)
        found = re.findall(r"mode (\d+) (\S+)", result.stdout)
        assert {mode for mode, _ in found} == {"755"}, result.stdout + result.stderr
        names |= {name for _, name in found}
    assert len(names) == 2
    assert not list(tmp_path.glob(".ranktree-*"))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root sees the mode of a mapped file without a name")
def test_shared_memory_is_private_and_has_random_names(mpi: Mpi, compiled: Callable, command, tmp_path) -> None:
    """The names of two runs differ; no other user may open one."""
    words = ["run", "--no-collectives-cache", "--collectives", "barrier=shared:binomial", "--"]
    launch = mpi.launch(2, compiled(mpi.name, LASTING, "-O1"), 1, 10**9)
    names = set()
    for _ in range(2):
        with subprocess.Popen([command, *words, *launch], cwd=tmp_path, stderr=subprocess.DEVNULL) as running:
            try:
                names.add(private_segment(running.pid))
            finally:
                running.terminate()
    assert len(names) == 2


def private_segment(parent: int) -> str:
    """The name of a segment that a rank has mapped, with its mode checked: its user alone may read it."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for pid in descendants(parent):
            try:
                found = SEGMENT.search(Path(f"/proc/{pid}/maps").read_text(encoding="ascii"))
                mode = found and Path(f"/proc/{pid}/map_files/{found[1]}").stat().st_mode
            except OSError:
                continue  # it has exited, or unmapped it
            if found:
                assert stat.S_IMODE(mode) == 0o600
                return found[2]
        time.sleep(0.01)
    raise AssertionError("no rank has mapped a segment")


def descendants(pid: int) -> list[int]:
    """Processes that a process has started, and theirs."""
    listing = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    children = [int(word) for word in listing.stdout.split()]
    return children + [one for child in children for one in descendants(child)]


@pytest.mark.parametrize("started", [True, False], ids=["started", "not started"])
def test_the_folder_of_a_traces_parts_is_made_before_the_launch(mpi: Mpi, ranktree, tmp_path: Path, started) -> None:
    """For this user alone, and removed where no rank comes through MPI_Init, as in `stat`."""
    parts = tmp_path / "app.npz.parts"
    launch = mpi.launch(1, "stat", "-c", "%a", parts)
    if not started:
        launch[0] = tmp_path / Path(launch[0]).name
        launch[0].write_text(
            f"#!/bin/sh\n[ $1 = --version ] && exec {mpi.mpiexec} --version\nexit 9\n", encoding="ascii"
        )
        launch[0].chmod(0o755)
    result = ranktree("trace", "-o", "app.npz", "--", *launch, cwd=tmp_path)
    assert result.returncode == (1 if started else 9)
    assert result.stdout.strip() == ("700" if started else "")
    assert "no rank came through MPI_Init" in result.stderr
    assert not parts.exists()
