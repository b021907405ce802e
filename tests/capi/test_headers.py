"""The C headers state what each function returns, and declare what the libraries export."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEADERS = sorted(path.name for path in (ROOT / "include/ranktree").glob("*.h"))
DECLARATION = re.compile(r"^RANKTREE_API ([\w\s*]*?)\**(\w+)\(", re.M)


def functions(header: str) -> list[tuple[str, str, str]]:
    """(type, name, comment) of each function; a comment serves all declarations up to the next one."""
    text = (ROOT / "include/ranktree" / header).read_text(encoding="utf-8")
    found = []
    for block in re.split(r"(?=^/\*\*)", text, flags=re.M):
        comment, _, rest = block.partition("*/")
        comment = comment if comment.startswith("/**") else ""
        found += [(kind.strip(), name, comment) for kind, name in DECLARATION.findall(rest)]
    return found


@pytest.mark.parametrize("header", HEADERS)
def test_every_function_states_what_it_returns(header: str) -> None:
    """By \\return, unless it returns nothing."""
    silent = [name for kind, name, comment in functions(header) if kind != "void" and "\\return" not in comment]
    assert silent == []


def test_the_headers_declare_what_the_libraries_export() -> None:
    """Beside what the libraries have for each other and for Fortran."""
    declared = {name for header in HEADERS for _, name, _ in functions(header)}
    lists = (ROOT / "tests/install/symbols" / f"{name}.txt" for name in ("ranktree", "ranktree_mpi"))
    exported = {name for path in lists for name in path.read_text(encoding="ascii").split()}
    paper = set((ROOT / "tests/install/symbols/ranktree_paper.txt").read_text(encoding="ascii").split())
    assert (exported | paper) - declared == {"ranktree_collect_handshake"}
    assert declared - exported == paper
