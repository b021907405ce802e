"""`ranktree emit`: files, the printed command, and what it refuses."""

import json
import shlex
from pathlib import Path

import pytest

SLOTS = [("n2", [1]), ("n0", [0]), ("n2", [0])]


@pytest.mark.parametrize(
    ("launcher", "names", "printed"),
    [
        (
            "openmpi4",
            {"rankfile"},
            "mpirun -n 3 --rankfile {d}/rankfile --use-hwthread-cpus --mca rmaps_rank_file_physical 1 ./a b",
        ),
        (
            "openmpi5",
            {"hostfile", "ranktree-bind", "ranktree-bind.map"},
            "mpirun -n 3 --hostfile {d}/hostfile --map-by seq --bind-to none {d}/ranktree-bind ./a b",
        ),
        (
            "mpich",
            {"hostfile"},
            "mpiexec -n 3 -f {d}/hostfile ./a b",
        ),
        (
            "intel",
            {"configfile", "ranktree-bind", "ranktree-bind.map"},
            "I_MPI_PIN=0 mpirun -configfile {d}/configfile",
        ),
        (
            "slurm",
            {"hostfile", "ranktree-bind", "ranktree-bind.map"},
            "SLURM_HOSTFILE={d}/hostfile srun -n 3 -m arbitrary --cpu-bind=none --kill-on-bad-exit=1 {d}/ranktree-bind "
            "./a b",
        ),
        ("generic", {"ranktree-bind", "ranktree-bind.map"}, "mpirun -n 3 {d}/ranktree-bind ./a b"),
        ("jsrun", {"erf"}, "jsrun --erf_input {d}/erf ./a b"),
        (
            "flux",
            {"ranktree-bind", "ranktree-bind.map"},
            "flux run -N2 -n 3 --requires=hosts:n0,n2 --taskmap=manual:[[1,1,1,1],[0,1,1,1],[1,1,1,1]]"
            " -o cpu-affinity=off {d}/ranktree-bind ./a b",
        ),
    ],
)
def test_files_and_command(ranktree, make_plan, tmp_path: Path, launcher: str, names: set[str], printed: str) -> None:
    folder = tmp_path / "out"
    result = ranktree("emit", make_plan(SLOTS), "--launcher", launcher, "-o", folder, "--", "./a", "b")
    assert result.returncode == 0, result.stderr
    assert {path.name for path in folder.iterdir()} == names
    assert shlex.split(result.stdout) == printed.format(d=folder).split()
    assert ("wrapper ranktree-bind binds" in result.stderr) == ("ranktree-bind" in names), "said in words"
    assert all(path.stat().st_mode & 0o100 for path in folder.glob("ranktree-bind"))


def test_the_folder_is_named_after_plan_and_launcher(ranktree, make_plan, tmp_path: Path) -> None:
    result = ranktree("emit", make_plan(SLOTS, name="app.json"), "-l", "openmpi4")
    assert (tmp_path / "app.openmpi4" / "rankfile").read_text(encoding="ascii").startswith("rank 0=n2 slot=1\n")
    assert result.stdout.split()[-1] == "PROGRAM"


def test_existing_files_stay_unless_forced(ranktree, make_plan, tmp_path: Path) -> None:
    plan = make_plan(SLOTS)
    (tmp_path / "out").mkdir()
    old = tmp_path / "out" / "ranktree-bind.map"
    old.write_text("mine\n", encoding="ascii")
    result = ranktree("emit", plan, "-l", "openmpi5", "-o", tmp_path / "out")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == f"ranktree: {old}: exists already; --force replaces it\n"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["ranktree-bind.map"]
    assert old.read_text(encoding="ascii") == "mine\n"
    assert ranktree("emit", plan, "-l", "openmpi5", "-o", tmp_path / "out", "--force").returncode == 0
    assert old.read_text(encoding="ascii") == "0 n2 1\n1 n0 0\n2 n2 0\n"


def test_a_bad_plan_leaves_no_files(ranktree, make_plan, tmp_path: Path) -> None:
    plan = make_plan(SLOTS)
    document = json.loads(plan.read_text(encoding="ascii"))
    document["slots"][1]["host"] = "n9"
    plan.write_text(json.dumps(document), encoding="ascii")
    result = ranktree("emit", plan, "-l", "mpich", "-o", tmp_path / "out")
    assert result.returncode == 1
    assert result.stderr == f"ranktree: {plan}: slots[1].host: host 'n9' is not one of the machine's hosts\n"
    assert not (tmp_path / "out").exists()


def test_an_unknown_launcher_is_wrong_usage(ranktree, make_plan) -> None:
    result = ranktree("emit", make_plan(SLOTS), "--launcher", "lsf")
    assert result.returncode == 2
    assert "openmpi4" in result.stderr


def test_intel_needs_the_program(ranktree, make_plan, tmp_path: Path) -> None:
    result = ranktree("emit", make_plan(SLOTS), "-l", "intel", "-o", tmp_path / "out")
    assert result.returncode == 1
    assert "write the program after --" in result.stderr


def test_json_names_files_and_command(ranktree, make_plan, tmp_path: Path) -> None:
    words = ("emit", make_plan(SLOTS), "-l", "openmpi4", "-o", tmp_path / "out")
    printed = ranktree(*words, "--", "./app", "a b").stdout.strip()
    found = json.loads(ranktree(*words, "--force", "--json", "--", "./app", "a b").stdout)
    assert (found["format"], found["version"], found["launcher"]) == ("ranktree-emit", 1, "openmpi4")
    assert sorted(found["files"]) == sorted(str(path) for path in (tmp_path / "out").iterdir())
    assert found["command"] == printed
    assert found["words"] == shlex.split(printed)
    assert found["words"][-2:] == ["./app", "a b"]
