"""The objects for notebooks: their numbers, their pictures, and the executed example."""

import contextlib
import io
import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from tests.helpers.reports import save_stencil

pytest.importorskip("ranktree._core", reason="the extension is not built")
pytest.importorskip("scipy.sparse", reason="scipy is not installed")
pytest.importorskip("networkx", reason="networkx is not installed")
import networkx
import ranktree
import scipy.sparse
from ranktree.report.document import build
from ranktree.report.inputs import Request

EXAMPLE = Path(__file__).resolve().parents[2] / "docs/how-to/notebook.ipynb"
MACHINE = "node:4 package:2 core:4"


@pytest.fixture
def matrix() -> np.ndarray:
    """29 ranks; a third of the pairs talk."""
    random = np.random.default_rng(3)
    return np.where(random.random((29, 29)) < 0.33, random.integers(1, 10**6, (29, 29)), 0).astype(float)


def test_matrices_and_graphs_come_back(matrix: np.ndarray) -> None:
    sparse = scipy.sparse.csr_array(matrix)
    graph = networkx.from_scipy_sparse_array(sparse, create_using=networkx.DiGraph)
    for given in (matrix, sparse, sparse.tocoo(), graph):
        pattern = ranktree.Pattern.from_matrix(given)
        assert pattern.ranks == 29
        assert len(pattern) == np.count_nonzero(matrix)
        np.testing.assert_array_equal(pattern.to_scipy().toarray(), matrix)
        assert not pattern.to_scipy("messages").toarray().any()
    back = ranktree.Pattern.from_matrix(matrix, messages=matrix > 0).to_networkx()
    assert back.number_of_nodes() == 29
    assert all(data["messages"] == 1 for _, _, data in back.edges(data=True))
    assert {(a, b): data["bytes"] for a, b, data in back.edges(data=True)} == {
        (int(a), int(b)): matrix[a, b] for a, b in np.argwhere(matrix)
    }


def test_an_undirected_edge_has_one_direction() -> None:
    """networkx lists it from the node that was added first, here from 1 in one graph and from 0 in the other."""
    sizes, counts = networkx.Graph(), networkx.Graph()
    sizes.add_edge(1, 0, weight=700)
    counts.add_edge(0, 1, weight=3)
    (edge,) = ranktree.Pattern.from_matrix(sizes, messages=counts).to_networkx().edges(data=True)
    assert edge == (0, 1, {"bytes": 700, "messages": 3, "weight": 700})


def test_a_described_machine_has_the_unit_that_is_named() -> None:
    pattern = ranktree.Pattern.from_matrix(np.ones((16, 16)))
    plan = pattern.place("node:2 core:4 pu:2", unit="pu")
    assert len({(slot.host, *slot.pus) for slot in plan.slots}) == 16
    document = ranktree.Report(pattern, plan, ranktree.Machine("node:2 core:4 pu:2", unit="pu")).document
    assert all("--unit pu" in each["command"] for each in document["commands"] if "--machine" in each["command"])
    with pytest.raises(ValueError, match=r"unit: the Machine has its own: Machine\(\.\.\., unit="):
        pattern.place(ranktree.Machine("node:2 core:8"), unit="pu")


def test_what_is_no_pattern_is_refused() -> None:
    with pytest.raises(ValueError, match="messages: expected 3 ranks, as many as amounts have, found 2"):
        ranktree.Pattern.from_matrix(np.ones((3, 3)), messages=np.ones((2, 2)))
    with pytest.raises(ValueError, match="square"):
        ranktree.Pattern.from_matrix(np.ones((2, 3)))
    with pytest.raises(ValueError, match="at least 0"):
        ranktree.Pattern.from_matrix(scipy.sparse.csr_array(np.array([[0.0, -1.0], [0.0, 0.0]])))
    with pytest.raises(ValueError, match="bytes or messages"):
        ranktree.Pattern.from_matrix(np.ones((2, 2))).to_scipy("calls")
    with pytest.raises(ValueError, match=r"found str: Pattern\.load reads a file"):
        ranktree.Pattern("app.npz")


@pytest.mark.parametrize("description", [MACHINE, "switch:2 node:2 core:3"])
def test_a_machine_has_the_distances_of_its_tree(description: str) -> None:
    machine = ranktree.Machine(description)
    distances = machine.distances()
    tree = machine.tree
    expected = [[tree.distance(a, b) for b in range(len(machine))] for a in range(len(machine))]
    np.testing.assert_array_equal(distances, expected)
    graph = machine.to_networkx()
    assert networkx.is_arborescence(graph)
    slots = sorted(data["slot"] for _, data in graph.nodes(data=True) if "slot" in data)
    assert slots == list(range(len(machine)))


def test_a_plan_costs_the_sum_over_distances_and_pattern(matrix: np.ndarray) -> None:
    pattern, machine = ranktree.Pattern.from_matrix(matrix), ranktree.Machine(MACHINE)
    plan = pattern.place(machine, seed=2)
    assert isinstance(plan, ranktree.Plan)
    slots = plan.permutation
    assert len(set(slots.tolist())) == 29
    assert plan.cost == pytest.approx((matrix * machine.distances()[np.ix_(slots, slots)]).sum())
    assert plan.bound <= plan.cost
    direct = ranktree.place(pattern.recorded, MACHINE, seed=2)
    assert direct.to_json() == plan.to_json()


def test_plans_are_saved_and_loaded(matrix: np.ndarray, tmp_path: Path) -> None:
    plan = ranktree.Pattern.from_matrix(matrix).place(MACHINE)
    plan.save(tmp_path / "plan.json")
    again = ranktree.Plan.load(tmp_path / "plan.json")
    assert again.to_json() == plan.to_json()
    assert again.permutation is None
    assert [slot.pus for slot in again.slots] == [slot.pus for slot in plan.slots]
    with pytest.raises(ValueError, match="pattern is not known"):
        again.report()


def test_a_report_of_objects_is_that_of_files(tmp_path: Path) -> None:
    save_stencil(tmp_path / "app.npz", (6, 5), hosts=4)
    pattern = ranktree.Pattern.load(tmp_path / "app.npz")
    plan = pattern.place(MACHINE)
    plan.save(tmp_path / "plan.json")
    of_objects = ranktree.Report(pattern, plan=plan, machine=MACHINE)
    of_files = ranktree.Report(tmp_path / "app.npz", plan=tmp_path / "plan.json", machine=MACHINE)
    request = Request(str(tmp_path / "app.npz"), plan=str(tmp_path / "plan.json"), machine=MACHINE)
    assert of_files.document == build(request)
    but_names = [{**each.document, "commands": []} for each in (of_objects, of_files)]  # commands name the plan's file
    assert but_names[0] == but_names[1]
    assert of_objects.text.startswith(of_objects.verdict)
    of_files.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == of_files.html


def test_everything_shows_itself(matrix: np.ndarray) -> None:
    pattern, machine = ranktree.Pattern.from_matrix(matrix, name="a <b>"), ranktree.Machine(MACHINE)
    plan = pattern.place(machine)
    report = plan.report()
    for each in (pattern, machine, plan, report):
        assert "<b>" not in each._repr_html_()
        assert "\n" not in repr(each)
    for picture in (pattern.plot(), machine.plot(), plan.plot()):
        root = ElementTree.fromstring(picture._repr_svg_())
        assert root.tag.endswith("svg")
    lengths = [
        float(each.get("width"))
        for each in ElementTree.fromstring(plan.plot().svg).iter()
        if each.get("height") == "14"
    ]
    totals = [row.total for row in plan.costs] + [plan.bound]
    assert np.array(lengths) == pytest.approx(np.array(totals) / max(totals) * max(lengths), abs=0.1)
    assert f'<td style="text-align: right">{plan.cost:,.6g}</td>' in plan._repr_html_()


def test_the_heat_map_is_dark_where_much_is_sent() -> None:
    """Decoded from the picture: white for nothing, darker for more."""
    import base64  # noqa: PLC0415
    import zlib  # noqa: PLC0415

    svg = ranktree.Pattern.from_matrix(np.array([[0, 1.0], [1000.0, 0]])).plot().svg
    data = base64.b64decode(svg.split("base64,")[1].split('"')[0])
    start = data.index(b"IDAT") + 4
    rows = zlib.decompress(data[start : data.index(b"IEND") - 8])
    pixels = np.frombuffer(rows, dtype=np.uint8).reshape(2, 7)[:, 1:].reshape(2, 2, 3).astype(int).sum(axis=2)
    assert pixels[0, 0] == pixels[1, 1] == 765
    assert pixels[1, 0] < pixels[0, 1] < 765


def test_the_example_runs_and_prints_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its cells, one after the other; what they print is what the page has stored."""
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for cell in json.loads(EXAMPLE.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        lines = "".join(cell["source"])
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(lines, EXAMPLE.name, "exec"), names)
        stored = ["".join(each["text"]) for each in cell["outputs"] if each["output_type"] == "stream"]
        assert printed.getvalue() == "".join(stored)
    assert {path.name for path in tmp_path.iterdir()} == {"plan.json", "report.html"}
