"""What `ranktree.place` and `pattern.load` take and refuse: paths, files of scipy, masked arrays, objects of ours."""

import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

scipy_sparse = pytest.importorskip("scipy.sparse")
MACHINE = "node:4 core:2"


@pytest.fixture
def matrix() -> np.ndarray:
    """Rank i sends 100 (i + 1) to rank i + 4."""
    found = np.zeros((8, 8))
    found[np.arange(4), np.arange(4) + 4] = 100 * (np.arange(4) + 1)
    return found


@pytest.fixture
def ranktree_module() -> object:
    """The package of the build tree."""
    import ranktree  # noqa: PLC0415  after conftest.py has set the path

    return ranktree


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("kind", ["matrix", "array"])
def test_files_of_scipy_are_read(form: str, kind: str, matrix: np.ndarray, ranktree_module, tmp_path: Path) -> None:
    """In every form that lists entries, with the same plan as the matrix itself."""
    path = tmp_path / "app.npz"
    made = getattr(scipy_sparse, f"{form}_{kind}")(matrix)
    scipy_sparse.save_npz(path, made)
    with pytest.warns(UserWarning, match="one number a pair"):
        plan = ranktree_module.place(path, MACHINE)
    expected = ranktree_module.place(made, MACHINE)
    assert plan.cost == expected.cost == 2 * matrix.sum()
    assert plan.permutation.tolist() == expected.permutation.tolist()


def test_the_command_line_reads_them_as_well(matrix: np.ndarray, ranktree: Callable, tmp_path: Path) -> None:
    """By `map` and `convert`."""
    scipy_sparse.save_npz(tmp_path / "app.npz", scipy_sparse.csr_matrix(matrix))
    result = ranktree(
        "map", "--metric", "size", tmp_path / "app.npz", "--machine", MACHINE, "-o", tmp_path / "plan.json"
    )
    assert result.returncode == 0, result.stderr
    result = ranktree("convert", tmp_path / "app.npz", "-o", tmp_path / "app.mtx")
    assert result.returncode == 0, result.stderr
    assert "8 8 4" in (tmp_path / "app.mtx").read_text(encoding="ascii")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"format": np.array(b"dia")}, "expected a sparse matrix in CSR, CSC or COO form, found 'dia'"),
        ({"indptr": np.array([0, 5, 2])}, "expected offsets that ascend from 0 to 2 entries"),
        ({"indices": np.array([0, 7])}, "expected a rank"),
        ({"indices": np.array([0.0, 1.0])}, "expected integers, found type 'f8'"),
        ({"data": np.array([1.0, -1.0])}, "-1"),
        ({"data": np.array([1j, 1])}, "expected real numbers or text, found type '<c16'"),
        ({"shape": np.array([2, 3])}, "expected a square matrix"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_wrong_files_are_refused_by_name(change: dict, reason: str, ranktree_module, tmp_path: Path) -> None:
    """One line, whatever the arrays are."""
    arrays = {
        "format": np.array(b"csr"),
        "shape": np.array([2, 2]),
        "indices": np.array([0, 1]),
        "indptr": np.array([0, 1, 2]),
        "data": np.array([1.0, 2.0]),
    }
    path = tmp_path / "wrong.npz"
    np.savez(path, **{**arrays, **change})
    with pytest.raises(ValueError, match="wrong.npz") as caught, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranktree_module.place(path, "node:2 core:1")
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_path_may_be_text_or_a_path(matrix: np.ndarray, ranktree_module, tmp_path: Path) -> None:
    """Of a format that holds everything, without a warning."""
    path = tmp_path / "app.csv"
    rows = [f"{i},{j},1,{matrix[i, j]:.0f},p2p" for i, j in np.argwhere(matrix > 0)]
    path.write_text("# ranks=8\nsrc,dst,messages,bytes,class\n" + "\n".join(rows) + "\n", encoding="ascii")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        costs = {ranktree_module.place(given, MACHINE).cost for given in (path, str(path))}
        pattern = ranktree_module.Pattern.load(path)
        costs |= {ranktree_module.place(pattern, ranktree_module.Machine(MACHINE)).cost}
    assert costs == {2 * matrix.sum()}
    assert repr(pattern).startswith("<Pattern ")
    for name in ("missing.npy", "missing.csv"):
        for error in (OSError, ranktree_module.Error):
            with pytest.raises(error, match=f"{name}: cannot open: No such file or directory"):
                ranktree_module.place(tmp_path / name, MACHINE)


def test_a_machine_and_a_network_may_be_paths(
    matrix: np.ndarray, ranktree: Callable, ranktree_module, tmp_path: Path
) -> None:
    """As their text."""
    from ranktree.prediction import predict  # noqa: PLC0415

    machine, network = tmp_path / "machine.json", tmp_path / "hosts"
    assert ranktree("topo", "node:2 core:4", "-o", machine).returncode == 0
    network.write_text("a left\nb right\n", encoding="ascii")
    for given in ({"machine": machine}, {"machine": "core:4", "network": network}):
        texts = {name: str(each) for name, each in given.items()}
        plan = ranktree_module.place(matrix, **given)
        assert plan.to_json() == ranktree_module.place(matrix, **texts).to_json()
        built = ranktree_module.Machine(**given)
        assert (len(built), built.text, ranktree_module.place(matrix, built).cost) == (8, texts["machine"], plan.cost)
        assert predict("bcast", 8, 64, **given) == predict("bcast", 8, 64, **texts)
    with pytest.raises(ValueError, match="network: expected text or a path, found int"):
        ranktree_module.place(matrix, "core:4", network=5)


def test_load_returns_a_pattern_and_warns(tmp_path: Path) -> None:
    """In place of a pair of both."""
    from ranktree import pattern  # noqa: PLC0415

    path = tmp_path / "pair.mtx"
    path.write_text("%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 1000\n", encoding="ascii")
    with pytest.warns(UserWarning, match="pair.mtx: ") as caught:
        found = pattern.load(path)
    assert isinstance(found, pattern.Pattern)
    assert (found.ranks, found.bytes.tolist()) == (2, [1000.0])
    assert Path(caught[0].filename) == Path(__file__), "the warning names the caller"


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("masked", [True, False])
def test_masked_arrays_are_refused(kind: type, masked: bool, matrix: np.ndarray, ranktree_module) -> None:
    """What a mask hides would count as it stands below the mask."""
    given = np.ma.masked_array(matrix.astype(kind), mask=matrix > 300 if masked else False)
    with pytest.raises(ValueError, match="expected no masked array"):
        ranktree_module.place(given, MACHINE)
    with pytest.raises(ValueError, match="expected no masked array"):
        ranktree_module.Pattern.from_matrix(given)
    assert ranktree_module.place(given.filled(0), MACHINE).cost >= 0


def test_a_plan_knows_whether_its_hosts_are_described(
    matrix: np.ndarray, ranktree: Callable, ranktree_module, tmp_path: Path
) -> None:
    """And so does its file; networks, this machine and machine files have real hosts."""
    described = ranktree_module.place(matrix, MACHINE)
    described.save(tmp_path / "plan.json")
    assert described.described
    assert ranktree_module.Plan.load(tmp_path / "plan.json").described
    network = tmp_path / "topology.conf"
    network.write_text("SwitchName=s Nodes=a,b,c,d\n", encoding="ascii")
    assert not ranktree_module.place(matrix, "core:2", network=str(network)).described
    assert ranktree_module.place(matrix[:4, :4], MACHINE, threads_per_rank=2).described
    assert not ranktree_module.place(np.zeros((1, 1)), "live").described
    assert ranktree("topo", MACHINE, "-o", tmp_path / "machine.json").returncode == 0
    assert not ranktree_module.place(matrix, str(tmp_path / "machine.json")).described


def test_documented_python_needs_no_private_module() -> None:
    """Pages name public modules only."""
    root = Path(__file__).resolve().parents[2]
    pages = [root / "README.md", *(root / "docs").rglob("*.md"), *(root / "examples").glob("*.py")]
    wrong = [page.name for page in pages if "ranktree._core" in page.read_text(encoding="utf-8")]
    assert [name for name in wrong if name != "architecture.md"] == []


def test_names_are_listed_and_errors_are_public(build_folder: Path) -> None:
    """`ranktree.Error` is what functions raise; nothing is loaded before its first use."""
    code = (
        f"import sys; sys.path.insert(0, '{build_folder / 'python'}'); import ranktree\n"
        "assert 'numpy' not in sys.modules\n"
        "assert {'place', 'Error', 'Pattern', '__version__'} <= set(dir(ranktree))\n"
        "try:\n    ranktree.Machine('switch:0')\n"
        "except ranktree.Error as error:\n    print(type(error).__mro__[1].__name__)\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout == "ValueError\n"
