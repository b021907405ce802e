"""Pictures for notebooks, as SVG that needs nothing else."""

import base64
import math
import struct
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path

import numpy as np

from ranktree import _core
from ranktree.report.colours import scale
from ranktree.report.shape import Shape

SIDE = 420
MOST_CELLS = 420
TEXT, QUIET, LINE = "#16191f", "#545b67", "#7c8592"
AMOUNT_COLOURS = {"plan": "#0a6ab5", "before": "#7d6b00", "other": "#6b7280", "bound": "#16191f"}
FONT = 'font-family="sans-serif" font-size="12"'
WIDTH = 760
ROW = 26


@dataclass(frozen=True)
class Picture:
    """An SVG picture: shown by a notebook, saved as a file."""

    svg: str

    def __repr__(self) -> str:
        """One line."""
        return f"<Picture: {unescape(self.svg.partition('<title>')[2].partition('</title>')[0])}>"

    def _repr_svg_(self) -> str:
        """What notebooks show."""
        return self.svg

    def save(self, path: str | Path) -> None:
        """Writes the picture, completely or not at all."""
        _core.write_file(str(path), self.svg)


def page(width: int, height: int, title: str, parts: Sequence[str]) -> Picture:
    """The picture of some parts."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" {FONT} role="img">'
        f"<title>{escape(title)}</title>"
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>'
    )
    return Picture("\n".join([head, *parts, "</svg>", ""]))


def heat_map(ranks: int, senders: np.ndarray, receivers: np.ndarray, weights: np.ndarray, title: str) -> Picture:
    """Amounts of pairs on a logarithmic scale, dark for much; above 420 ranks a cell sums several pairs."""
    width = -(-ranks // MOST_CELLS)
    side = -(-ranks // width)
    sums = np.zeros((side, side))
    np.add.at(sums, (senders // width, receivers // width), weights)
    known = sums > 0
    pixels = np.full((side, side, 3), 255, dtype=np.uint8)
    if known.any():
        low, high = sums[known].min(), sums[known].max()
        span = math.log(high / low) or 1.0
        steps = 236 - np.round(np.log(sums[known] / low) / span * 236).astype(int) * (high > low)
        pixels[known] = np.array(scale(), dtype=np.uint8)[steps if high > low else steps * 0]
    image = base64.b64encode(png(pixels)).decode("ascii")
    return page(
        SIDE + 40,
        SIDE + 60,
        title,
        [
            f'<text x="20" y="24" fill="{TEXT}">{escape(title)}</text>',
            f'<image x="20" y="36" width="{SIDE}" height="{SIDE}" preserveAspectRatio="none" '
            f'style="image-rendering: pixelated" href="data:image/png;base64,{image}"/>',
            f'<rect x="20" y="36" width="{SIDE}" height="{SIDE}" fill="none" stroke="{LINE}"/>',
        ],
    )


def png(pixels: np.ndarray) -> bytes:
    """An RGB image as PNG (ISO 15948)."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = pixels.shape[:2]
    rows = np.concatenate([np.zeros((height, 1), dtype=np.uint8), pixels.reshape(height, -1)], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def bar_chart(title: str, rows: Sequence[tuple[str, str, float]], text: Callable[[float], str]) -> Picture:
    """A bar chart, a row for each (label, key of AMOUNT_COLOURS, amount)."""
    most = max((amount for _, _, amount in rows), default=0) or 1
    parts = [f'<text x="12" y="24" fill="{TEXT}">{escape(title)}</text>']
    for index, (label, kind, amount) in enumerate(rows):
        y = 40 + ROW * index
        length = amount / most * (WIDTH - 420)
        parts.append(f'<text x="12" y="{y + 14}" fill="{TEXT}">{escape(label)}</text>')
        colour = AMOUNT_COLOURS[kind]
        parts.append(f'<rect x="300" y="{y + 3}" width="{length:.1f}" height="14" fill="{colour}"/>')
        parts.append(f'<text x="{306 + length:.1f}" y="{y + 14}" fill="{QUIET}">{escape(text(amount))}</text>')
    return page(WIDTH, 52 + ROW * len(rows), title, parts)


def levels(shape: Shape, title: str) -> Picture:
    """A row a level, its objects as wide as they have slots; objects thinner than a pixel are drawn together."""
    parts = [f'<text x="12" y="24" fill="{TEXT}">{escape(title)}</text>']
    place = (WIDTH - 124) / max(shape.slots, 1)
    for level, (kind, above) in enumerate(zip(shape.kinds, shape.above, strict=True)):
        y = 40 + ROW * level
        parts.append(f'<text x="12" y="{y + 16}" fill="{QUIET}">{escape(kind)}</text>')
        starts = np.flatnonzero(np.diff(above, prepend=-1))
        ends = np.append(starts[1:], shape.slots)
        if len(starts) * 2 > WIDTH:
            starts, ends = starts[:1], ends[-1:]
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            box = f'x="{112 + start * place:.1f}" width="{(end - start) * place - 1:.1f}"'
            parts.append(f'<rect {box} y="{y}" height="{ROW - 4}" fill="#e6edf5" stroke="{LINE}"/>')
            name = shape.names.get(int(above[start]), "")
            if name and (end - start) * place > 8 * len(name):
                parts.append(f'<text x="{116 + start * place:.1f}" y="{y + 15}" fill="{TEXT}">{escape(name)}</text>')
    return page(WIDTH, 52 + ROW * len(shape.kinds), title, parts)
