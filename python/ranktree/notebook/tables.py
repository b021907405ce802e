"""Tables for notebooks."""

from collections.abc import Sequence
from html import escape


def table(caption: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """An HTML table: the first column to the left, the others to the right."""
    head = "".join(
        f'<th scope="col" style="text-align: {side(i)}">{escape(text)}</th>' for i, text in enumerate(header)
    )
    body = "".join(f"<tr>{cells(row)}</tr>" for row in rows)
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def cells(row: Sequence[str]) -> str:
    """The cells of one row."""
    return "".join(f'<td style="text-align: {side(i)}">{escape(text)}</td>' for i, text in enumerate(row))


def side(column: int) -> str:
    """Numbers stand at the right."""
    return "left" if column == 0 else "right"
