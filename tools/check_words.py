#!/usr/bin/env python3
"""Finds phrases that readers will not search for: each line of words.tsv with what to write in its place.

check_words.py [FILE]...    all files of the repository when none is named; exit code 1 when any is found

A line of words.tsv has a regular expression (letter case does not count), what to write in its place, and an expression
for the places where the phrase is right. Names count as text: their parts are looked at as words.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORDS = Path(__file__).with_name("words.tsv")
SUFFIXES = (".md", ".py", ".h", ".hpp", ".cpp", ".c", ".f90", ".F90", ".cmake", ".txt", ".sh", ".inc")
# Generated, foreign, or about the words themselves.
SKIPPED = (
    "tools/words.tsv",
    "tools/check_words.py",
    "docs/reference/glossary.md",
    "docs/reference/cli.md",
    "docs/reference/python-api.md",
    "tests/tools/test_words.py",
    "src/preload/generated/",
    "tests/pattern/data/",
)


@dataclass(frozen=True)
class Phrase:
    """One line of words.tsv."""

    found: re.Pattern[str]
    instead: str
    unless: re.Pattern[str] | None

    def matches(self, text: str) -> Iterator[str]:
        """What is found in a line, where nothing excuses it."""
        excused = [match.span() for match in self.unless.finditer(text)] if self.unless else []
        for match in self.found.finditer(text):
            if not any(first <= match.start() < last for first, last in excused):
                yield match.group()


def phrases(path: Path = WORDS) -> list[Phrase]:
    """All lines but the heading."""
    result = []
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        found, instead, unless = line.split("\t")
        excuse = re.compile(unless, re.IGNORECASE) if unless else None
        result.append(Phrase(re.compile(found, re.IGNORECASE), instead, excuse))
    return result


def as_words(line: str) -> str:
    """snake_case and CamelCase names taken apart."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", line.replace("_", " "))


def files(names: list[str]) -> Iterator[str]:
    """Those named, or all that are looked at."""
    if names:
        yield from names
        return
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines():
        if name.endswith(SUFFIXES) and not name.startswith(SKIPPED) and (ROOT / name).is_file():
            yield name


def faults(name: str, discouraged: list[Phrase]) -> Iterator[str]:
    """Lines of a file with a discouraged phrase, and the file's own name."""
    lines = [name, *(ROOT / name).read_text(encoding="utf-8").splitlines()]
    for number, line in enumerate(lines):
        text = as_words(line)
        for phrase in discouraged:
            for found in phrase.matches(text):
                yield f"{name}:{number}: '{found}': {phrase.instead}"


def main() -> int:
    """Prints each place."""
    discouraged = phrases()
    found = [fault for name in files(sys.argv[1:]) for fault in faults(name, discouraged)]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
