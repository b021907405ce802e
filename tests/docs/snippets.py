"""Blocks of the pages: what is run, with what it prints, and what is only checked for its options."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
RUN = ("console", "sh", "python")
FENCE = re.compile(r"(?:<!-- not run: ([^\n]*?) -->\n)?^```([\w-]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:^    .*\n)+", re.MULTILINE)


@dataclass
class Block:
    """A fenced block; `reason` where the tests cannot run it."""

    language: str
    text: str
    line: int
    reason: str


@dataclass
class Command:
    """A command of a console block, and the lines that it prints."""

    words: str
    output: list[str] = field(default_factory=list)


def blocks(page: Path) -> Iterator[Block]:
    """All fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        yield Block(found[2], found[3], text.count("\n", 0, found.start(2)) + 1, found[1] or "")


def commands(block: Block) -> list[Command]:
    """The commands of a block; in a console block these are the lines with a dollar sign."""
    if block.language != "console":
        return [Command(block.text)]
    result: list[Command] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            result.append(Command(line.removeprefix("$ ")))
        else:
            result[-1].output.append(line)
    return result


def shell_lines(page: Path) -> Iterator[str]:
    """Every line of a block, fenced or indented, that may be a command."""
    text = page.read_text(encoding="utf-8")
    for block in blocks(page):
        if block.language in {"", "console", "sh"}:
            yield from block.text.replace("\\\n", " ").splitlines()
    for found in INDENTED.findall(FENCE.sub("", text)):
        yield from (line.strip() for line in found.splitlines())


def is_printed(expected: str, printed: list[str]) -> bool:
    """Whether a line is among the printed ones; `...` stands for anything, blanks for any number of blanks."""
    parts = [re.escape(re.sub(r"\s+", " ", part)) for part in expected.strip().split("...")]
    pattern = re.compile(".*".join(parts))
    return any(pattern.fullmatch(re.sub(r"\s+", " ", line).strip()) for line in printed)
