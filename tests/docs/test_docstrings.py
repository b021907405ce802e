"""Public Python calls are described in numpydoc's form: every parameter, what is returned, what is raised."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.mpis import mpi4py_variables, needed_mpi

PROGRAM = Path(__file__).with_name("public_calls.py")
PAGE = Path(__file__).resolve().parents[2] / "docs/reference/python-api.md"
# They fail only where memory does.
NEVER_RAISE = {"to_networkx", "distances", "plot", "to_json"}


@pytest.fixture(scope="module")
def calls(mpi_builds: dict, build_folder: Path) -> dict[str, dict]:
    """All public calls, from a process that has imported them."""
    with pytest.MonkeyPatch.context() as patch:
        mpi = needed_mpi("openmpi", mpi_builds, build_folder, patch)
        environment = {**os.environ, **mpi4py_variables("openmpi", build_folder)}
        environment["PYTHONPATH"] = str(build_folder / "python")
        words = mpi.launch(1, sys.executable, PROGRAM)
        result = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False, env=environment)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert len(found) > 80
    return found


def sections(text: str) -> dict[str, list[str]]:
    """The lines of each section."""
    parts = re.split(r"^(\w+)\n-+\n", text, flags=re.M)
    return {name: body.splitlines() for name, body in zip(parts[1::2], parts[2::2], strict=True)}


def entries(lines: list[str]) -> list[str]:
    """What a section describes: names, without their types."""
    heads = [line.partition(" : ")[0] for line in lines if line and not line.startswith(" ")]
    return [name.strip() for head in heads for name in head.split(",")]


def test_every_parameter_is_described(calls: dict[str, dict]) -> None:
    """In the order of the signature."""
    wrong = {}
    for name, call in calls.items():
        found = [entry.lstrip("*") for entry in entries(sections(call["text"]).get("Parameters", []))]
        if found != call["parameters"]:
            wrong[name] = (found, call["parameters"])
    assert wrong == {}


def test_what_is_returned_is_described(calls: dict[str, dict]) -> None:
    """By calls that return something, and by no others."""
    wrong = [name for name, call in calls.items() if ("Returns" in sections(call["text"])) != call["returns"]]
    assert wrong == []


def test_what_is_raised_is_described(calls: dict[str, dict]) -> None:
    """By all calls but those that cannot fail."""
    silent = [name for name, call in calls.items() if "Raises" not in sections(call["text"])]
    assert [name for name in silent if name.rpartition(".")[2] not in NEVER_RAISE] == []


def test_every_section_has_words(calls: dict[str, dict]) -> None:
    """Each entry is followed by an indented line, and the summary ends with a full stop."""
    for name, call in calls.items():
        assert call["text"].splitlines()[0].endswith("."), name
        for section, lines in sections(call["text"]).items():
            if section in {"Parameters", "Returns", "Raises", "Warns"}:
                heads = [i for i, line in enumerate(lines) if line and not line.startswith(" ")]
                assert all(lines[i + 1].startswith("    ") for i in heads), (name, section)


def test_the_page_names_nothing_that_users_do_not_import() -> None:
    """The extension is a detail."""
    assert "_core" not in PAGE.read_text(encoding="utf-8")
