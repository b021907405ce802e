"""The document as one self-contained page: style, programs and data inside, nothing loaded from anywhere."""

import json
from html import escape
from importlib.resources import files
from typing import Any

from ranktree.report.colours import as_hex, scale

STYLE = "style.css"
PROGRAMS = ("format.js", "elements.js", "heatmap.js", "heatview.js", "machine.js", "tables.js", "main.js")


def as_html(document: dict[str, Any]) -> str:
    """The page. Its data is the document, so what `--json` prints is what the page shows."""
    page = part("page.html")
    values = {
        "TITLE": escape(document["title"]),
        "VERDICT": escape(document["verdict"]["sentence"]),
        "STYLE": part(STYLE),
        "DATA": embedded(document),
        "SCALE": as_hex(scale()),
        "PROGRAM": "\n".join(part(name) for name in PROGRAMS),
    }
    head, *rest = page.split("{{")
    pieces = [head]
    for piece in rest:
        name, _, after = piece.partition("}}")
        pieces += [values[name], after]
    return "".join(pieces)


def part(name: str) -> str:
    """A file of the page's folder."""
    return (files("ranktree.report") / "page" / name).read_text(encoding="utf-8")


def embedded(document: dict[str, Any]) -> str:
    """JSON that may stand inside a script element: no end tag, no comment, no line separator of JavaScript's."""
    text = json.dumps(document, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
