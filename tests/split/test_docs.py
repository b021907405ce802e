"""docs/explanation/splits.md shows the paper's figures as the command prints the machines."""

from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs/explanation/splits.md"
NODE = "pack:2 [numa] l3:1 l2:2 l1d:1 core:2 pu:1"


@pytest.mark.parametrize("machine", [f"node:4 {NODE}", NODE])
def test_the_figures_are_drawn_as_topo_draws_them(ranktree, machine: str) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert f'ranktree topo "{machine}"' in text
    result = ranktree("topo", machine)
    assert result.returncode == 0, result.stderr
    drawn = result.stdout.split("\n\n")[0].splitlines()
    blocks = [block.strip("\n").splitlines() for block in text.split("```")[1::2]]
    assert any(
        len(block) == len(drawn) and all(line.startswith(tree) for line, tree in zip(block, drawn, strict=True))
        for block in blocks
    ), drawn
