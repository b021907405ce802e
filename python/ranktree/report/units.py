"""Numbers as readers want them: `1.24 GB`, `12,345`, `3.4 ms`."""

from ranktree.model import digits_text


def bytes_text(value: float) -> str:
    """Three digits and a decimal unit: 1 GB = 10^9 bytes."""
    for unit, factor in (("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= factor:
            return f"{digits_text(value / factor)} {unit}"
    return f"{value:.3g} bytes" if value != int(value) else f"{int(value)} bytes"


def count_text(value: float) -> str:
    """Whole numbers with commas, others with two digits behind the point."""
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,.2f}"


def weight_text(value: float) -> str:
    """Whole numbers with commas, at least three digits of others, as matrices of shares have them."""
    return f"{int(value):,}" if float(value).is_integer() else digits_text(value)


def power_text(value: float) -> str:
    """A power of two with a binary unit: `4 KiB`; "empty" for 0."""
    if value == 0:
        return "empty"
    for unit, factor in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if value >= factor:
            return f"{value / factor:g} {unit}"
    return f"{value:g} B"
