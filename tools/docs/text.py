"""Markdown: tables and cells."""

import re
from collections.abc import Sequence


def cell(text: str, code: bool = False) -> str:
    """Text that may stand in a table."""
    text = re.sub(r"\s+", " ", text).strip().replace("|", "\\|")
    return f"`{text}`" if code and text else text


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table with a heading."""
    lines = [head, ["---"] * len(head), *[[re.sub(r"(?<!\\)\|", r"\\|", each) for each in row] for row in rows]]
    return "\n".join("| " + " | ".join(line).replace("\n", " ") + " |" for line in lines)


def escaped(text: str) -> str:
    """Names with underscores, stars and angle brackets, as they are."""
    return re.sub(r"([*_<>])", r"\\\1", text)
