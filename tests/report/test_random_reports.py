"""Reports of any pattern that can be read: the page holds the document and nothing that its texts could add."""

import json
import math
import random
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ranktree._core", reason="the extension is not built")
from ranktree import _core
from ranktree.report.document import as_json, build
from ranktree.report.html import as_html
from ranktree.report.inputs import Request
from ranktree.report.text import as_text

# What could end an element, an attribute, a string or a placeholder of the page, or move a terminal's cursor.
PIECES = (
    "</script>",
    "<!--",
    "-->",
    "]]>",
    "{{DATA}}",
    "}}",
    "&lt;",
    "\"'`",
    "\\u003c",
    "\u2028",
    "\x1b[2J",
    "\n",
    "\u202e",
    "é",
    "n0",
)
MACHINES = (None, "node:2 core:3", "switch:2 node:2 core:9", "node:1 core:64")


class Elements(HTMLParser):
    """The elements of a page, and the text inside its title and its data."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.inside: tuple[str, str | None] = ("", None)
        self.title = self.data = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(tag)
        self.inside = (tag, dict(attrs).get("id"))

    def handle_data(self, data: str) -> None:
        if self.inside[0] == "title":
            self.title += data
        if self.inside == ("script", "data"):
            self.data += data

    def handle_endtag(self, tag: str) -> None:
        self.inside = ("", None)


def elements(page: str) -> Elements:
    """Reads a page as a browser does."""
    parser = Elements()
    parser.feed(page)
    parser.close()
    return parser


def some_text(dice: random.Random) -> str:
    """A text of a trace: words of PIECES in any order."""
    return "".join(dice.choice(PIECES) for _ in range(dice.randrange(4)))


def save_any(path: Path, dice: random.Random) -> None:
    """Up to 20 ranks and 60 pairs, from nothing to 2^46 bytes; texts that a program's user may choose."""
    ranks = dice.randint(1, 20)
    count = dice.choice((0, 1, 60))
    ends = [np.array([dice.randrange(ranks) for _ in range(count)], np.int64) for _ in range(2)]
    messages = np.array([float(dice.choice((0, 1, 3, 2**40))) for _ in range(count)])
    sizes = np.array([float(dice.choice((0, 1, 2**20, 2**46))) for _ in range(count)])
    pattern = _core.Pattern.from_pairs(ranks, *ends, messages, sizes, dice.choice(("p2p", "collective", "rma")))
    hosts = [some_text(dice) for _ in range(ranks)] if dice.random() < 0.5 else []
    pattern.metadata = {
        "program": some_text(dice),
        "launch": [some_text(dice) for _ in range(3)],
        "hosts": hosts,
        "unattributed": {some_text(dice): 1.0},
    }
    _core.save_pattern(str(path), pattern)


def numbers(value: Any) -> list[float]:
    """Every number of a document."""
    if isinstance(value, dict):
        return [number for each in value.values() for number in numbers(each)]
    if isinstance(value, list):
        return [number for each in value for number in numbers(each)]
    return [value] if isinstance(value, float) else []


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The elements of a page without such texts."""
    path = tmp_path_factory.mktemp("plain") / "plain.npz"
    _core.save_pattern(str(path), _core.Pattern.from_pairs(1, *np.zeros((2, 0), np.int64), *np.zeros((2, 0))))
    return elements(as_html(build(Request(str(path))))).found


@pytest.mark.parametrize("seed", range(40))
def test_any_pattern_gives_a_page_of_its_document(seed: int, plain: list[str], tmp_path: Path) -> None:
    dice = random.Random(seed)
    path = tmp_path / f"{some_text(dice).replace('/', '').replace(chr(10), '')}.npz"
    save_any(path, dice)
    try:
        document = build(Request(str(path), machine=dice.choice(MACHINES)))
    except ValueError as error:
        assert "slots" in str(error)  # the machine is too small
        return
    assert json.loads(as_json(document)) == document
    assert all(math.isfinite(number) for number in numbers(document))
    page = elements(as_html(document))
    assert page.found == plain
    assert json.loads(page.data) == document
    assert page.title.strip().startswith(document["title"].strip())
    assert all(line.isprintable() for line in as_text(document).split("\n"))
