"""The tables of bench/predict/run.py, of times made up by hand."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "bench" / "predict" / "run.py"


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("bench_predict", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_what_a_wrong_choice_costs(bench: ModuleType) -> None:
    """The model calls 4 groups the best of four; measured, 2 are, and 4 take half as long again."""
    case = bench.Case("broadcast", 4096, "chain", {1: 4.0, 2: 2.0, 4: 3.0, 8: 5.0})
    case.predicted = {"loggp": {1: 4.0, 2: 3.0, 4: 1.5, 8: 6.0}, "hockney": {1: 2.0, 2: 2.0}, "closed": {}}
    assert case.choice("loggp") == 4
    assert case.regret("loggp") == pytest.approx(1.5)
    assert case.ratios("loggp") == [1.0, 1.5, 0.5, 1.2]
    assert case.choice("hockney") == 1, "of equal ones the fewest"
    (row,) = list(bench.table([case]))[2:]
    assert row.startswith("| broadcast | 4K | chain | 4000.0 | 2000.0 | 3000.0 | 5000.0 | 0.50 to 1.50 | 4 | 1.50x |")
    assert row.endswith("| - | - | - |")


def test_the_tables_stand_between_the_marks(bench: ModuleType, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{bench.MARKS[0]}\nold\n{bench.MARKS[1]}\nafter\n")
    bench.write_between_marks(page, bench.MARKS, "new\n")
    text = page.read_text()
    assert "old" not in text and text.startswith("before") and text.endswith("after\n") and "\nnew\n" in text
    page.write_text("no marks\n")
    with pytest.raises(ValueError, match="expected the marks"):
        bench.write_between_marks(page, bench.MARKS, "new")
    assert page.read_text() == "no marks\n"
    assert list(tmp_path.iterdir()) == [page]
