#!/usr/bin/env python3
"""Checks the Markdown pages: links lead somewhere, and a decision page has its three parts in 400 words."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"\]\(([^)\s]+)\)")
PARTS = ("## Context", "## Decision", "## Consequences")
MOST_WORDS = 400


def pages() -> list[Path]:
    """All Markdown pages of the repository."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def anchors(text: str) -> set[str]:
    """The anchors of the headings, as GitHub makes them."""
    headings = re.findall(r"^#+ +(.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path) -> Iterator[str]:
    """Links to files and headings that do not exist; links to other sites are not followed."""
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists():
            yield f"{link}: no such file"
        elif anchor and target.suffix == ".md" and anchor not in anchors(target.read_text(encoding="utf-8")):
            yield f"{link}: {target.name} has no such heading"


def decision_faults(page: Path) -> Iterator[str]:
    """Missing parts and excess words of a decision page."""
    text = page.read_text(encoding="utf-8")
    yield from (f"no line '{part}'" for part in PARTS if f"\n{part}\n" not in text)
    words = len(text.split())
    if words > MOST_WORDS:
        yield f"{words} words, at most {MOST_WORDS}"


def main() -> int:
    """Prints each fault with its page."""
    faults = []
    for page in pages():
        found = list(broken_links(page))
        is_decision = page.parent.name == "decisions" and page.name != "README.md"
        if is_decision:
            found += decision_faults(page)
        faults += [f"{page.relative_to(ROOT)}: {fault}" for fault in found]
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
