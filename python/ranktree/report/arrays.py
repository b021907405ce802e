"""Long arrays inside the document: deflated and written as base64, so that 16,384 ranks stay below 5 MB."""

import base64
import zlib
from typing import Any

import numpy as np

LEVEL = 6  # of deflate; 9 takes five times as long for 2 % less
TYPES: dict[str, np.dtype[Any]] = {"u1": np.dtype("<u1"), "u4": np.dtype("<u4"), "f8": np.dtype("<f8")}


def packed(values: Any, kind: str) -> dict[str, Any]:
    """`{"type", "length", "deflate"}`: little-endian items, zlib's format, base64."""
    array = np.ascontiguousarray(values, dtype=TYPES[kind])
    text = base64.b64encode(zlib.compress(array.tobytes(), LEVEL)).decode("ascii")
    return {"type": kind, "length": len(array), "deflate": text}


def unpacked(item: dict[str, Any]) -> np.ndarray:
    """The array that `packed` was given."""
    array: np.ndarray = np.frombuffer(zlib.decompress(base64.b64decode(item["deflate"])), dtype=TYPES[item["type"]])
    if len(array) != item["length"]:
        raise ValueError(f"report: expected an array of {item['length']} items, found {len(array)}")
    return array


def size_of(item: Any) -> int:
    """Characters that the packed arrays inside an object take in the document."""
    if isinstance(item, dict):
        return len(item["deflate"]) if "deflate" in item else sum(map(size_of, item.values()))
    return sum(map(size_of, item)) if isinstance(item, list) else 0
