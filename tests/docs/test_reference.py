"""The tables of docs/reference have every environment variable and every info key that the sources know."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"
SOURCES = [
    *(ROOT / "src").rglob("*.cpp"),
    *(ROOT / "src").rglob("*.h"),
    *(ROOT / "python" / "ranktree").rglob("*.py"),
]
# A name in quotes that is read or handed to the program; macros of the headers have no quotes.
VARIABLE = re.compile(r'"(RANKTREE_[A-Z_]+)["=]')
# Options of CMake, which `ranktree doctor --build` passes to it.
OPTION = re.compile(r"(?:option\(|set\(\s*)(RANKTREE_[A-Z_]+)")
KEY = re.compile(
    r'"(ranktree_(?:algorithm|leftover|node_id|network|objective|parameters|pattern|preset|seed|horizon|state_bytes|time_limit_ms'
    r'|reorder[a-z_]*))"'
)


def names_in_sources(pattern: re.Pattern[str]) -> set[str]:
    """All names that a pattern finds in the code."""
    return {name for path in SOURCES for name in pattern.findall(path.read_text(encoding="utf-8"))}


def names_in_page(page: str, name: str) -> set[str]:
    """All names in backquotes in the tables of a page."""
    lines = (REFERENCE / page).read_text(encoding="utf-8").splitlines()
    return {found for line in lines if line.startswith("|") for found in re.findall(f"`({name})[`=]", line)}


@pytest.mark.parametrize(
    ("page", "source", "name"),
    [("environment.md", VARIABLE, "RANKTREE_[A-Z_]+"), ("info-keys.md", KEY, "ranktree_[a-z_]+")],
    ids=["environment", "info-keys"],
)
def test_every_name_of_the_sources_is_in_the_table(page: str, source: re.Pattern[str], name: str) -> None:
    scripts = [ROOT / "CMakeLists.txt", *(ROOT / "cmake").glob("*.cmake")]
    options = {found for path in scripts for found in OPTION.findall(path.read_text(encoding="utf-8"))}
    known = names_in_sources(source) - options
    assert len(known) > 8
    assert sorted(known - names_in_page(page, name)) == []


def test_every_variable_of_the_table_is_read() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in [*SOURCES, *(ROOT / "tests").rglob("conftest.py")])
    text += (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert sorted(name for name in names_in_page("environment.md", "RANKTREE_[A-Z_]+") if name not in text) == []


def test_every_key_of_the_table_is_known() -> None:
    assert sorted(names_in_page("info-keys.md", "ranktree_[a-z_]+") - names_in_sources(KEY)) == []
