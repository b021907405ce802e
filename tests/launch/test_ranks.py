"""`ranktree where` inside a job of either MPI: the table, what is wrong, and the flag that mends it."""

import json
import shutil
import subprocess

import pytest

from tests.helpers.launches import HERE, PUS, environment

pytestmark = pytest.mark.skipif(PUS != [0, 1], reason="expected texts are for a machine with PUs 0 and 1")


def where(command: str, build_folder, *launcher: object, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess:
    """`LAUNCHER... ranktree where`."""
    family = str(launcher[0]).rpartition(".")[2]
    if shutil.which(str(launcher[0])) is None or not (build_folder / "lib" / f"ranktree-ranks-{family}").exists():
        pytest.skip(f"{launcher[0]} or ranktree-ranks-{family} is missing")
    words = [*map(str, launcher), command, "where", *options]
    return subprocess.run(words, env=environment(), capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize(
    ("launcher", "code", "last"),
    [
        (["mpiexec.openmpi", "-n", 2, "--bind-to", "core"], 0, "every rank is bound, no two share a PU"),
        (["mpiexec.mpich", "-n", 2, "-bind-to", "core"], 0, "every rank is bound, no two share a PU"),
        (
            ["mpiexec.openmpi", "-n", 2, "--bind-to", "none"],
            3,
            f"unbound: ranks 0-1 on {HERE}, PUs 0-1: use --bind-to core",
        ),
        (["mpiexec.mpich", "-n", 1], 3, f"unbound: rank 0 on {HERE}, PUs 0-1: use -bind-to core"),
        (
            ["mpiexec.mpich", "-n", 3, "-bind-to", "core"],
            3,
            f"oversubscribed: ranks 0,2 on {HERE}, PUs 0: use -ppn 2 -bind-to core"
            " (at most 2 ranks a host: start fewer, or use more hosts)",
        ),
        (
            ["mpiexec.openmpi", "-n", 3, "--map-by", "core", "--bind-to", "core:overload-allowed", "--oversubscribe"],
            3,
            f"oversubscribed: ranks 0,2 on {HERE}, PUs 0: use --map-by ppr:2:node --bind-to core"
            " (at most 2 ranks a host: start fewer, or use more hosts)",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_flag(command, build_folder, launcher, code, last) -> None:
    result = where(command, build_folder, *launcher)
    assert result.returncode == code, result.stderr
    assert result.stdout.splitlines()[-1] == last


@pytest.mark.parametrize("launcher", [["mpiexec.openmpi", "-n", 2], ["mpiexec.mpich", "-n", 2, "-bind-to", "core"]])
def test_every_rank_has_its_place_in_the_json(command, build_folder, launcher) -> None:
    result = where(command, build_folder, *launcher, options=("--json",))
    document = json.loads(result.stdout)
    assert [entry["pus"] for entry in document["ranks"]] == [[0], [1]]
    assert [entry["cores"] for entry in document["ranks"]] == [[0], [1]]
    assert {entry["host"] for entry in document["ranks"]} == {HERE}
    assert document["findings"] == []


def test_outside_of_a_launch_the_error_names_the_command(ranktree) -> None:
    result = ranktree("where")
    assert result.returncode == 1
    assert result.stderr == (
        "ranktree: where: no launcher started this process; use: ranktree where -- mpirun -n N ./app, or: "
        "mpirun -n N ranktree where\n"
    )


def test_topo_shows_machines_only(ranktree) -> None:
    result = ranktree("topo", "--ranks")
    assert result.returncode == 2
    assert "no such option: --ranks" in result.stderr
