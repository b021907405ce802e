"""Medians of few runs, and how sure one can be that two differ.

The interval is the bootstrap's with expanded percentiles (T. Hesterberg, What Teachers Should Know about the Bootstrap,
The American Statistician 69(4), 2015, section 5.3): with few runs plain percentiles are too narrow.
"""

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

RESAMPLES = 10_000
CONFIDENCE = 0.95
FEWEST = 5  # runs of each command below which there is no verdict
STEPS = 200_000
FAR = 2000.0


def median_interval(values: Sequence[float], seed: int = 1) -> tuple[float, float]:
    """The confidence interval of a median."""
    samples = np.asarray(values, dtype=np.float64)
    medians = np.median(samples[drawn(len(samples), len(samples), seed)], axis=1)
    return interval(medians, len(samples))


def ratio_interval(first: Sequence[float], second: Sequence[float], paired: bool, seed: int = 1) -> tuple[float, float]:
    """The confidence interval of median(first) / median(second).

    paired: the i-th runs ran one after the other, so that rounds are drawn and what slowed a round down cancels out.
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    rounds = drawn(len(a), len(a), seed)
    others = rounds if paired else drawn(len(b), len(b), seed + 1)
    ratios = np.median(a[rounds], axis=1) / np.median(b[others], axis=1)
    return interval(ratios, min(len(a), len(b)))


def drawn(count: int, size: int, seed: int) -> np.ndarray:
    """Numbers of runs, drawn with replacement: a row a resample."""
    return np.random.default_rng(seed).integers(0, count, (RESAMPLES, size))


def interval(estimates: np.ndarray, runs: int) -> tuple[float, float]:
    """The expanded percentiles of resampled estimates."""
    if runs < 2:
        return float(estimates.min()), float(estimates.max())
    wide = math.sqrt(runs / (runs - 1)) * student_quantile((1 + CONFIDENCE) / 2, runs - 1)
    tail = NormalDist().cdf(-wide)
    low, high = np.quantile(estimates, [tail, 1 - tail])
    return float(low), float(high)


def student_quantile(probability: float, freedom: int) -> float:
    """The quantile of Student's distribution above the median, by integrating its density."""
    x = np.sinh(np.linspace(0, math.asinh(FAR), STEPS))
    constant = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    density = constant * (1 + x * x / freedom) ** (-(freedom + 1) / 2)
    area = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(x))])
    return float(np.interp(probability - 0.5, area, x))
