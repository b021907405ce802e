"""`ranktree convert`, files shared with numpy, and the state of the disk after a failure."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FORMATS = ("npz", "mtx", "mat", "graph", "grf", "csv")


@pytest.fixture
def pairs_csv(tmp_path: Path) -> Path:
    """Five ranks, all traffic point-to-point, symmetric so that graphs hold it as well."""
    path = tmp_path / "in.csv"
    path.write_text("# ranks=5\nsrc,dst,messages,bytes\n0,1,2,30\n1,0,2,30\n1,4,1,9007199254740992\n3,2,7,8\n")
    return path


@pytest.fixture
def calls_npz(tmp_path: Path) -> Path:
    """Three ranks that send nothing but take part in ten broadcasts of 100 bytes from rank 0, made by numpy."""
    path = tmp_path / "calls.npz"
    metadata = {"format": "ranktree-pattern", "version": 1, "ranks": 3, "mpi": "Open MPI v4.1.4"}
    np.savez(
        path,
        metadata=np.frombuffer(json.dumps(metadata).encode(), dtype=np.uint8),
        indptr=np.zeros(4, dtype=np.int64),
        indices=np.zeros(0, dtype=np.int32),
        messages=np.zeros(0),
        bytes=np.zeros(0),
        communicator_indptr=np.array([0, 3]),
        communicator_members=np.array([0, 1, 2], dtype=np.int32),
        call_communicator=np.array([0], dtype=np.int32),
        call_operation=np.array([1], dtype=np.int32),
        call_root=np.array([0], dtype=np.int32),
        call_bucket=np.array([7], dtype=np.int32),
        call_count=np.array([30]),
        call_bytes=np.array([3000]),
    )
    return path


def matrix(path: Path) -> np.ndarray:
    """Bytes by sender and receiver, read with numpy alone."""
    with np.load(path) as file:
        ranks = len(file["indptr"]) - 1
        dense = np.zeros((ranks, ranks))
        dense[np.repeat(np.arange(ranks), np.diff(file["indptr"])), file["indices"]] = file["bytes"]
    return dense


def test_numpy_reads_what_is_written(ranktree, pairs_csv: Path, tmp_path: Path) -> None:
    assert ranktree("convert", pairs_csv, "-o", tmp_path / "out.npz").returncode == 0
    with np.load(tmp_path / "out.npz") as file:
        assert file["indptr"].dtype == np.int64
        assert file["indptr"].tolist() == [0, 1, 3, 3, 4, 4]
        assert file["indices"].dtype == np.int32
        assert file["indices"].tolist() == [1, 0, 4, 2]
        assert file["bytes"].dtype == np.int64
        assert file["bytes"].tolist() == [30, 30, 2**53, 8]
        assert file["p2p_messages"].tolist() == [2, 2, 1, 7]
        metadata = json.loads(file["metadata"].tobytes())
    assert metadata["format"] == "ranktree-pattern"
    assert metadata["ranks"] == 5
    assert metadata["source"] == "CSV"


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("order", ["<", ">"])
def test_what_numpy_writes_is_read(ranktree, tmp_path: Path, save, order: str) -> None:
    save(
        tmp_path / "in.npz",
        indptr=np.array([0, 2, 2, 3], dtype=order + "i4"),
        indices=np.array([0, 2, 1], dtype=order + "i8"),
        messages=np.array([1, 2, 3], dtype=order + "f4"),
        bytes=np.array([10, 20, 30], dtype=order + "u2"),
        metadata=json.dumps({"format": "ranktree-pattern", "version": 1, "program": "été"}),
    )
    result = ranktree("convert", tmp_path / "in.npz", "-o", tmp_path / "out.csv")
    assert (result.returncode, result.stderr) == (0, "")
    assert (tmp_path / "out.csv").read_text().splitlines()[1:] == [
        "src,dst,messages,bytes", "0,0,1,10", "0,2,2,20", "2,1,3,30",
    ]  # fmt: skip
    ranktree("convert", tmp_path / "in.npz", "-o", tmp_path / "out.npz")
    with np.load(tmp_path / "out.npz") as file:
        assert json.loads(file["metadata"].tobytes())["program"] == "été"


def test_every_format_leads_back_to_the_same_bytes(ranktree, pairs_csv: Path, tmp_path: Path) -> None:
    ranktree("convert", pairs_csv, "-o", tmp_path / "first.npz")
    expected = matrix(tmp_path / "first.npz")
    for extension in FORMATS:
        middle, last = tmp_path / f"middle.{extension}", tmp_path / f"{extension}.npz"
        assert ranktree("convert", tmp_path / "first.npz", "-o", middle).returncode == 0
        assert ranktree("convert", middle, "-o", last).returncode == 0
        found = matrix(last)
        if extension in ("graph", "grf"):  # these know no directions
            assert np.array_equal(found + found.T, expected + expected.T), extension
        else:
            assert np.array_equal(found, expected), extension


def test_metric_chooses_what_is_written_and_how_it_is_read(ranktree, pairs_csv: Path, tmp_path: Path) -> None:
    result = ranktree("convert", pairs_csv, "-o", tmp_path / "a.mat", "--metric", "msg")
    assert "bytes are lost" in result.stderr
    assert (tmp_path / "a.mat").read_text().splitlines()[1] == "2 0 0 0 1"
    result = ranktree("convert", tmp_path / "a.mat", "-o", tmp_path / "a.csv", "--metric", "msg")
    assert "bytes are unknown" in result.stderr
    assert "1,4,1,0" in (tmp_path / "a.csv").read_text()


def test_formats_may_be_named(ranktree, pairs_csv: Path, tmp_path: Path) -> None:
    shutil.copy(pairs_csv, tmp_path / "data")
    assert (
        ranktree("convert", tmp_path / "data", "--from", "csv", "-o", tmp_path / "x", "--to", "scotch").returncode == 0
    )
    assert (tmp_path / "x").read_text().startswith("0\n5 6\n0 010\n")
    result = ranktree("convert", tmp_path / "data", "--from", "csv", "-o", tmp_path / "y")
    assert result.returncode == 2
    assert not (tmp_path / "y").exists()


def test_collective_calls_are_kept_in_npz_and_expanded_elsewhere(ranktree, calls_npz: Path, tmp_path: Path) -> None:
    kept = ranktree("convert", calls_npz, "-o", tmp_path / "kept.npz")
    assert (kept.returncode, kept.stderr) == (0, "")
    with np.load(tmp_path / "kept.npz") as file:
        assert file["call_count"].tolist() == [30]
        assert file["communicator_members"].tolist() == [0, 1, 2]
    expanded = ranktree("convert", calls_npz, "-o", tmp_path / "expanded.csv")
    assert "expanded to pairs by model 'openmpi'" in expanded.stderr
    flat = ranktree("convert", calls_npz, "-o", tmp_path / "flat.csv", "--collectives", "flat")
    assert flat.returncode == 0
    lines = (tmp_path / "flat.csv").read_text().splitlines()[2:]
    assert lines == ["0,1,10,1000,collective", "0,2,10,1000,collective"]
    ranktree("convert", calls_npz, "-o", tmp_path / "none.csv", "--collectives", "none")
    assert "lines=0" in (tmp_path / "none.csv").read_text()


@pytest.mark.parametrize(
    ("name", "text", "fragment"),
    [
        ("a.npz", "PK", "a.npz: zip end record"),
        ("a.npz", "", "a.npz: the file is empty"),
        ("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 1\n", "a.mtx: line 3: column"),
        ("a.mat", "0 1\n", "a.mat: line 2: the file ends"),
        ("a.graph", "2 1 1\n2 -1\n1 -1\n", "a.graph: line 2: edge weight"),
        ("a.grf", "0\n0 0\n0 000\n", "a.grf: line 2: number of vertices"),
        ("a.csv", "src,dst,bytes\n0,1,nan\n", "a.csv: line 2: bytes"),
        ("a.prof", "E\t0\t1\t3 bytes", "a.prof: line 1: the line is incomplete"),
    ],
)
def test_bad_input_is_one_line_and_no_output(ranktree, tmp_path: Path, name: str, text: str, fragment: str) -> None:
    (tmp_path / name).write_text(text)
    output = tmp_path / "out.csv"
    output.write_text("as it was")
    result = ranktree("convert", tmp_path / name, "-o", output)
    assert result.returncode == 1
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert fragment in result.stderr
    assert output.read_text() == "as it was"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted({name, "out.csv"})


def test_what_is_not_a_file_is_refused(ranktree, pairs_csv: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    for path, fragment in (("none.csv", "No such file"), ("", "found a folder"), ("pipe.csv", "found a device, pipe")):
        result = ranktree("convert", tmp_path / path, "--from", "csv", "-o", tmp_path / "out.npz", timeout=20)
        assert result.returncode == 1
        assert fragment in result.stderr
    for path in (tmp_path / "none" / "out.npz", tmp_path, Path("/dev/full")):
        result = ranktree("convert", pairs_csv, "-o", path, "--to", "npz")
        assert result.returncode == 1
        assert str(path) in result.stderr


def test_a_full_disk_leaves_the_old_file(command: str, tmp_path: Path) -> None:
    """The output file is in a mount namespace of its own, on a file system of 64 KiB."""
    script = f"""
        mount -t tmpfs -o size=64k none {tmp_path} || exit 77
        cd {tmp_path}
        echo "as it was" > out.csv
        {sys.executable} - <<'EOF' > /dev/shm/ranktree-{os.getpid()}.csv
print("# ranks=300")
print("src,dst,messages,bytes")
for i in range(300):
    for j in range(0, 300, 3):
        print(f"{{i}},{{j}},{{i * j + 7}},{{i * j * 1000003}}")
EOF
        {command} convert /dev/shm/ranktree-{os.getpid()}.csv -o out.csv
        status=$?
        rm /dev/shm/ranktree-{os.getpid()}.csv
        ls; cat out.csv; exit $status
    """
    result = subprocess.run(
        ["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    if result.returncode == 77 or "unshare" in result.stderr:
        pytest.skip("mount namespaces are not allowed here: " + result.stderr.strip())
    assert result.returncode == 1
    assert "out.csv: cannot write: No space left on device" in result.stderr
    assert result.stdout == "out.csv\nas it was\n"


SCIPY_LIKE = """%%MatrixMarket matrix coordinate real general
%
3 3 2
1 2 1.0000000000000000e+00
3 1 2.5000000000000000e+00
"""


def test_values_as_scipy_writes_them_are_read(ranktree, tmp_path: Path) -> None:
    (tmp_path / "a.mtx").write_text(SCIPY_LIKE)
    ranktree("convert", tmp_path / "a.mtx", "-o", tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text().splitlines()[2:] == ["0,1,0,1", "2,0,0,2.5"]


PROGRAM = r"""
#include <mpi.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char sent[100] = {0}, received[100];
  for (int i = 0; i < 3; ++i) {
    if (rank == 0) MPI_Send(sent, 100, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(received, 100, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
"""


@pytest.mark.skipif(shutil.which("mpicc.openmpi") is None, reason="Open MPI is not installed")
def test_open_mpis_own_monitoring_is_read(ranktree, tmp_path: Path) -> None:
    (tmp_path / "program.c").write_text(PROGRAM)
    subprocess.run(["mpicc.openmpi", "program.c", "-o", "program"], cwd=tmp_path, check=True, timeout=60)
    environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    monitoring = {"enable": "2", "enable_output": "3", "filename": str(tmp_path / "run")}
    settings = [word for name, value in monitoring.items() for word in ("--mca", f"pml_monitoring_{name}", value)]
    subprocess.run(
        ["mpiexec.openmpi", "--oversubscribe", "--bind-to", "none", *settings, "-n", "3", "./program"],
        cwd=tmp_path, env=environment, check=True, timeout=120,
    )  # fmt: skip
    for name in ("run", "run.1.prof"):
        result = ranktree("convert", tmp_path / name, "-o", tmp_path / "out.csv")
        assert result.returncode == 0, result.stderr
        assert "persistent sends" in result.stderr
        lines = (tmp_path / "out.csv").read_text().splitlines()
        assert "ranks=3" in lines[0]
        assert [line for line in lines if line.endswith("p2p")] == ["0,1,3,300,p2p"]
        assert any(line.endswith("collective") for line in lines)


def test_json_names_what_was_written(ranktree, calls_npz: Path, pairs_csv: Path, tmp_path: Path) -> None:
    found = json.loads(ranktree("convert", pairs_csv, "-o", tmp_path / "out.npz", "--json").stdout)
    assert (found["format"], found["version"], found["file_format"]) == ("ranktree-convert", 1, "npz")
    assert (found["file"], found["collectives"], found["warnings"]) == (str(tmp_path / "out.npz"), None, [])
    assert (found["ranks"], found["pairs"], found["messages"], found["bytes"]) == (5, 4, 12, 2**53 + 68)
    found = json.loads(ranktree("convert", calls_npz, "-o", tmp_path / "out.csv", "--json").stdout)
    assert (found["file_format"], found["collectives"], found["collective_kinds"]) == ("csv", "openmpi", 0)
    assert (found["messages"], found["bytes"]) == (20, 2000)
    assert "1 kinds of collective calls expanded" in found["warnings"][0]
