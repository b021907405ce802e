"""The demo's heat map as text."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SPECIFICATION = importlib.util.spec_from_file_location("demo_picture", ROOT / "tools" / "demo_picture.py")
demo_picture = importlib.util.module_from_spec(SPECIFICATION)
SPECIFICATION.loader.exec_module(demo_picture)


def test_cells_stand_in_the_order_of_the_nodes(monkeypatch) -> None:
    monkeypatch.setattr(demo_picture, "shades", lambda: demo_picture.ASCII)
    lines = demo_picture.heat_map([(0, 2, 100.0), (1, 3, 1.0)], ["n0", "n1", "n0", "n1"])
    assert lines == ["  ##|    ", "##  |    ", "---------", "    |  ..", "    |..  "]


def test_the_titles_stand_above_both_pictures() -> None:
    assert demo_picture.side_by_side(("a", "b"), ["12", "34"], ["56", "7 "]) == ["a     b", "12    56", "34    7"]
