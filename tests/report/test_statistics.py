"""Medians of few runs: intervals that cover the true median as often as stated, and comparisons in words."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("ranktree._core", reason="the extension is not built")
from ranktree.runs import statistics
from ranktree.runs.document import Series, document, load
from ranktree.runs.statistics import ratio_interval, student_quantile


@pytest.mark.parametrize(("freedom", "expected"), [(1, 12.7062), (4, 2.7764), (9, 2.2622), (30, 2.0423)])
def test_student_quantiles_are_those_of_the_tables(freedom: int, expected: float) -> None:
    assert student_quantile(0.975, freedom) == pytest.approx(expected, rel=1e-4)


def misses(runs: int, ratio: float, monkeypatch: pytest.MonkeyPatch) -> float:
    """How often the interval leaves the true ratio of two noisy commands out."""
    monkeypatch.setattr(statistics, "RESAMPLES", 1000)
    known = student_quantile(0.975, runs - 1)
    monkeypatch.setattr(statistics, "student_quantile", lambda probability, freedom: known)
    random = np.random.default_rng(7)
    missed = 0
    for trial in range(400):
        slow = random.lognormal(0, 0.1, runs)  # what slows both commands of a round
        first = ratio * (1 + random.exponential(0.05, runs)) * slow
        second = (1 + random.exponential(0.05, runs)) * slow
        low, high = ratio_interval(first, second, paired=True, seed=trial)
        missed += not low <= ratio <= high
    return missed / 400


@pytest.mark.parametrize("runs", [5, 7, 15])
def test_intervals_hold_the_true_ratio(runs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """95 % of the time; 9 % of misses allow for 400 trials and for 5 runs, where the bootstrap is a little narrow."""
    assert misses(runs, 1.0, monkeypatch) <= 0.09
    assert misses(runs, 1.5, monkeypatch) <= 0.09


@pytest.mark.parametrize(
    ("word", "reason"),
    [("NaN", "a finite number in every"), ("-Infinity", "a finite number in every"), ("[" * 100_000, "JSON: ")],
)
def test_files_of_runs_that_are_no_json_are_refused(tmp_path: Path, word: str, reason: str) -> None:
    """In whatever field: what is read can be written again."""
    path = tmp_path / "runs.json"
    fields = '"format": "ranktree-runs", "version": 1, "series": [], "unit": "s", "what": "time"'
    path.write_text(f'{{{fields}, "confidence": {word}}}', encoding="ascii")
    with pytest.raises(ValueError, match=f"runs.json: expected {reason}"):
        load(str(path))


def test_a_clear_difference_is_seen() -> None:
    random = np.random.default_rng(1)
    first = (1.3 * (1 + random.exponential(0.03, 7))).tolist()
    second = (1 + random.exponential(0.03, 7)).tolist()
    found = document([Series("A", [], first), Series("B", [], second)], "s", "wall time", paired=True)["comparison"]
    assert found["result"] == "faster"
    assert found["low"] <= 1.3 <= found["high"]
    assert found["sentence"].startswith("B is 1.")
    back = document([Series("A", [], second), Series("B", [], first)], "s", "wall time", paired=True)["comparison"]
    assert back["result"] == "slower"
    assert back["ratio"] == pytest.approx(1 / found["ratio"])


def test_few_runs_decide_nothing() -> None:
    found = document([Series("A", [], [2.0] * 4), Series("B", [], [1.0] * 4)], "s", "wall time", paired=True)
    assert found["comparison"]["result"] == "too few runs"


def test_what_slows_a_round_cancels_out_of_paired_runs() -> None:
    random = np.random.default_rng(3)
    slow = random.lognormal(0, 0.5, 15)
    first, second = (slow * (1 + 0.01 * random.random(15)) for _ in range(2))
    low, high = ratio_interval(first, second, paired=True)
    apart_low, apart_high = ratio_interval(first, second, paired=False)
    assert high - low < 0.1
    assert apart_high - apart_low > 0.5


def test_same_seed_same_interval() -> None:
    first, second = [1.0, 1.2, 1.1, 1.3, 1.05], [1.0, 1.1, 1.25, 1.01, 1.2]
    assert ratio_interval(first, second, False, 3) == ratio_interval(first, second, False, 3)
