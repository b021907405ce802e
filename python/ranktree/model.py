"""Sizes, seconds and choices of the cost models in words."""

import itertools
import re
from collections.abc import Sequence
from decimal import Decimal

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
LONGEST = 1 << 50  # bytes
SMALLEST_OF_UNIT = 0.9995  # three digits of it are 1
MOST_SIZES = 200


def sizes_of(text: str) -> list[int]:
    """`8,1K` or `1K:16M`, doubling."""
    sizes: list[int] = []
    for part in text.split(","):
        first, colon, last = part.partition(":")
        size, end = size_of(first), size_of(last if colon else first)
        if end < size or (size == 0 and end > 0):
            raise ValueError(f"sizes: expected the smaller one first, and above 0, found '{part}'")
        while size <= end:
            sizes.append(size)
            size = max(2 * size, 1)
            if len(sizes) > MOST_SIZES:
                raise ValueError(f"sizes: expected at most {MOST_SIZES}, found more")
    return sizes


def size_of(text: str) -> int:
    """`16M` in bytes."""
    found = re.fullmatch(r"(\d{1,16})([KMG]?)", text)
    if not found or int(found[1]) * UNITS[found[2]] > LONGEST:
        raise ValueError(f"sizes: expected bytes such as 8, 64K or 16M, found '{text}'")
    return int(found[1]) * UNITS[found[2]]


def size_text(size: int) -> str:
    """`16M` where it is even."""
    for unit in ("G", "M", "K"):
        if size and size % UNITS[unit] == 0:
            return f"{size // UNITS[unit]}{unit}"
    return str(size)


def seconds_text(seconds: float) -> str:
    """Three digits and a unit."""
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= SMALLEST_OF_UNIT:
            return f"{digits_text(seconds * factor)} {unit}"
    return f"{digits_text(seconds * 1e9)} ns"


def digits_text(value: float, digits: int = 3) -> str:
    """So many digits, more before the point; never an exponent."""
    text = f"{value:.{digits}g}"
    return f"{value:,.0f}" if "e+" in text else format(Decimal(text), "f")


def text_of(choice: str) -> str:
    """A choice as it is shown in a table: without the word that all of them have, equal levels once."""
    variant, _, rest = choice.partition(":")
    algorithms, _, fields = rest.partition(":")
    levels = "/".join(word for word, _ in itertools.groupby(algorithms.split("/")))
    words = [*([] if variant == "messages" else [variant]), levels, *fields.removeprefix("form=").split(":")]
    return " ".join(word for word in words if word)


def runs_of(keys: Sequence[object]) -> list[tuple[int, int]]:
    """First and last index of each run of equal keys."""
    runs: list[tuple[int, int]] = []
    for index, key in enumerate(keys):
        if runs and keys[runs[-1][0]] == key:
            runs[-1] = (runs[-1][0], index)
        else:
            runs.append((index, index))
    return runs
