"""An option that is not given has the same value in C, in Python and on the command line."""

import inspect
import subprocess
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NAMES = (
    *("algorithm", "metric", "objective", "parameters", "collectives", "preset", "seed", "threads", "oversubscribe"),
    *("time_limit", "unit", "cost", "network"),
)


def defaults_of(function: Any) -> dict[str, Any]:
    """Of its parameters."""
    return {name: each.default for name, each in inspect.signature(function).parameters.items()}


@pytest.fixture(scope="module")
def defaults(build_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """programs/defaults.c as a program."""
    program = tmp_path_factory.mktemp("defaults") / "defaults"
    lib = build_folder / "lib"
    words = ["cc", HERE / "programs/defaults.c", "-o", program, f"-I{ROOT / 'include'}"]
    words += [f"-L{lib}", f"-Wl,-rpath,{lib}", "-lranktree"]
    subprocess.run([str(word) for word in words], check=True, timeout=120)
    return program


def different(program: Path, values: dict[str, Any]) -> list[str]:
    """The names whose default in C is another."""
    words = [str(program), *(f"{name}={value}" for name, value in values.items())]
    result = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout.split()


def test_python_and_the_command_line_have_the_same_defaults() -> None:
    """Of every option that both have but --metric: not given, it leaves the choice to --objective."""
    import ranktree  # noqa: PLC0415  the package of the build tree
    from ranktree.cli import map as map_command  # noqa: PLC0415

    in_python, on_line = defaults_of(ranktree.place), defaults_of(map_command.command)
    shared = in_python.keys() & on_line.keys() - {"pattern", "metric"}
    assert shared >= {*NAMES, "machine", "threads_per_rank"} - {"metric"}
    assert {name: in_python[name] for name in shared} == {name: on_line[name] for name in shared}


def test_c_has_the_defaults_of_python(defaults: Path) -> None:
    """Of every option that both have."""
    import ranktree  # noqa: PLC0415  the package of the build tree

    in_python = defaults_of(ranktree.place)
    assert different(defaults, {name: in_python[name] for name in NAMES}) == []


def test_another_value_is_noticed(defaults: Path) -> None:
    """Of each option."""
    other = {"algorithm": "greedy", "metric": "msg", "objective": "time", "parameters": "ethernet-1g"}
    other |= {"collectives": "flat", "preset": "fast", "seed": 2, "threads": 2, "oversubscribe": True}
    other |= {"time_limit": 1, "unit": "pu", "cost": "latency", "network": "topology.conf"}
    assert sorted(different(defaults, other)) == sorted(NAMES)
