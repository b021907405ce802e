"""The scale of colours: even steps of lightness, which any eye and any printer can distinguish."""

import numpy as np
import pytest

pytest.importorskip("ranktree._core", reason="the extension is not built")
from ranktree.report.colours import as_hex, scale


def lab(colours: list[tuple[int, int, int]]) -> np.ndarray:
    """CIELAB (D65) of sRGB colours: another space than the one the scale is computed in."""
    value = np.array(colours) / 255
    value = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    matrix = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    xyz = value @ np.array(matrix).T / [0.95047, 1, 1.08883]
    root = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.stack([116 * root[:, 1] - 16, 500 * (root[:, 0] - root[:, 1]), 200 * (root[:, 1] - root[:, 2])], axis=1)


def test_lightness_rises_evenly() -> None:
    lightness = lab(scale(32))[:, 0]
    steps = np.diff(lightness)
    assert steps.min() > 0.5 * steps.mean()
    assert steps.max() < 1.6 * steps.mean()
    assert lightness[-1] - lightness[0] > 65


def test_neighbours_differ_evenly() -> None:
    distance = np.linalg.norm(np.diff(lab(scale(32)), axis=0), axis=1)
    assert distance.max() < 3 * distance.min()


def test_the_table_has_six_digits_a_colour() -> None:
    assert len(as_hex(scale())) == 6 * 256
    assert as_hex([(0, 16, 255)]) == "0010ff"
