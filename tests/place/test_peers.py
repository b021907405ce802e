"""`ranktree map --compare`: METIS, Scotch and KaHIP as they are, and libraries that are not what they seem."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from ranktree import peer_libraries

MACHINE = "node:4 package:2 core:2"
OURS = {"engine, fast", "engine, default", "engine, strong", "treematch", "greedy", "round-robin", "identity"}
SCOTCH = ("Scotch", "Scotch, quality", "Scotch, balanced")
Rows = dict[str, dict]


def write_nested(path: Path, ranks: int = 16, factor: int = 1) -> Path:
    """Ranks that differ by 8 exchange 100, by 4 10; the order of ranks keeps none of them on one node."""
    rows = [
        (i, j, 1, (100 if (j - i) % 8 == 0 else 10) * factor)
        for i in range(ranks)
        for j in range(i + 1, ranks)
        if (j - i) % 4 == 0
    ]
    lines = [f"# ranks={ranks}", "src,dst,messages,bytes", *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="ascii")
    return path


def run_compared(command: str, pattern: Path, *options: object, machine: str = MACHINE) -> Rows:
    """The comparison's rows by name; libraries, programs and modules beside the pattern come before those installed."""
    folder = str(pattern.parent)
    variables = {"LD_LIBRARY_PATH": folder, "PYTHONPATH": folder, "PATH": f"{folder}:{os.environ['PATH']}"}
    arguments = ["map", pattern, "--machine", machine, "--compare", "--json", *options]
    words = [command, *map(str, arguments)]
    pipes = {"capture_output": True, "text": True}
    result = subprocess.run(words, env=os.environ | variables, **pipes, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    return {row["name"]: row for row in json.loads(result.stdout)["comparison"]}


@pytest.fixture(scope="module", params=[1, 10**12])
def nested(request: pytest.FixtureRequest, command: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[int, Rows]:
    """What weights are multiplied by, and the rows."""
    folder = tmp_path_factory.mktemp("nested")
    return request.param, run_compared(command, write_nested(folder / "p.csv", factor=request.param))


@pytest.fixture
def compared(command: str) -> Callable[..., Rows]:
    """run_compared()."""
    return partial(run_compared, command)


ONE_PEER = """
import json, sys
from ranktree import _core, peers
tree = _core.load_machine(sys.argv[2]).cut_at("Core")
pattern, _ = _core.load_pattern(sys.argv[3], None, None)
problem = peers.make_problem(tree, pattern, "size", 1, 1)
answer = peers.run_peer(sys.argv[1], problem, float(sys.argv[4]))
print(json.dumps([answer.note, None if answer.leaf_of is None else answer.leaf_of.tolist()]))
"""


@pytest.fixture
def answer(build_folder: Path, tmp_path: Path) -> Callable[..., tuple[str, list[int] | None]]:
    """One peer's note and leaves, without the rest of the comparison."""

    def run(name: str, limit: float = 60) -> tuple[str, list[int] | None]:
        path = f"{tmp_path}:{os.environ['PATH']}"
        variables = {"LD_LIBRARY_PATH": str(tmp_path), "PYTHONPATH": f"{build_folder / 'python'}:{tmp_path}"}
        words = [sys.executable, "-c", ONE_PEER, name, MACHINE, write_nested(tmp_path / "p.csv"), str(limit)]
        environment = os.environ | variables | {"PATH": path}
        result = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=120, check=False)
        assert result.returncode == 0, result.stderr
        return tuple(json.loads(result.stdout))

    return run


def skip_without(rows: Rows, name: str) -> dict:
    """The row, where the peer is there."""
    if rows[name]["note"] == "not installed":
        pytest.skip(f"{name} is not installed")
    return rows[name]


@pytest.mark.parametrize("name", ["METIS", *SCOTCH])
def test_real_peers_find_groups_that_nest(nested: tuple[int, Rows], name: str) -> None:
    """Nothing costs less than what each finds, also where weights are terabytes."""
    factor, rows = nested
    assert set(rows) == OURS | {"METIS", "KaHIP", *SCOTCH}
    row = skip_without(rows, name)
    assert row["note"] == ""
    # Pairs of 100 meet in a package at 2 hops; each of four nodes holds two of them, and four pairs of 10 at 4 hops.
    assert row["cost"] == (4 * 2 * 100 * 2 + 4 * 4 * 10 * 4) * factor
    assert row["over_bound"] == 1
    assert row["seconds"] >= 0
    assert rows["identity"]["cost"] > row["cost"]


def test_real_kahip_places_or_is_refused(nested: tuple[int, Rows]) -> None:
    """It keeps no balance: what it answers is judged, not believed."""
    row = skip_without(nested[1], "KaHIP")
    assert row["over_bound"] is not None or row["note"].startswith("unbalanced: ")


def test_real_metis_on_unequal_subtrees_with_places_to_spare(compared: Callable, tmp_path: Path) -> None:
    """Each rank has a slot of its own, none a forbidden one; programs that need equal subtrees report so."""
    pattern = write_nested(tmp_path / "p.csv", ranks=13)
    rows = compared(pattern, "--forbid", "n0:1-2", "--forbid", "n3:3", machine="node:4 package:2 core:2 pu:1")
    for name in ("KaHIP", *SCOTCH):
        assert rows[name]["note"] in ("not installed", "needs equal subtrees, one rank a place")
    row = skip_without(rows, "METIS")
    assert row["note"] == ""
    assert row["over_bound"] >= 1
    assert row["cost"] < rows["identity"]["cost"]


def test_real_metis_where_ranks_share_places(compared: Callable, tmp_path: Path) -> None:
    """Two a core: pairs of 100 cost nothing."""
    rows = compared(write_nested(tmp_path / "p.csv"), "--oversubscribe", machine="node:2 package:2 core:2")
    assert skip_without(rows, "METIS")["cost"] == 4 * 4 * 10 * 2


METIS_HEAD = """
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#ifndef CUT
#define CUT 2  // of a chain of four
#endif
void METIS_SetDefaultOptions(idx_t* options) { memset(options, 255, 40 * sizeof(idx_t)); }
int METIS_PartGraphRecursive(idx_t* n, idx_t* constraints, idx_t* starts, idx_t* columns, idx_t* a, idx_t* b,
                             idx_t* weights, idx_t* parts, real_t* shares, real_t* c, idx_t* options, idx_t* cut,
                             idx_t* part) {
  if (*n < 2 || *parts < 2 || (shares && (shares[0] != 0.5 || shares[1] != 0.5))) return -2;
  if (*n == 4) { for (int i = 0; i < 4; ++i) part[i] = i >= CUT; return 1; }
"""
SCOTCH_HEAD = """
#include <signal.h>
int SCOTCH_numSizeof(void) { return NUMBER; }
int SCOTCH_graphSizeof(void) { return 8; }
int SCOTCH_archSizeof(void) { return 8; }
int SCOTCH_stratSizeof(void) { return 8; }
int SCOTCH_graphInit(void* graph) { return 0; }
int SCOTCH_graphBuild(void* graph) { return 0; }
int SCOTCH_archInit(void* arch) { return 0; }
int SCOTCH_archTleaf(void* arch) { return 0; }
int SCOTCH_stratInit(void* strategy) { return 0; }
int SCOTCH_stratGraphMapBuild(void* strategy) { return 0; }
void SCOTCH_randomSeed(int seed) {}
void SCOTCH_randomReset(void) {}
int SCOTCH_graphMap(void* graph, void* arch, void* strategy, int* part) {
"""
IN_ORDER = "for (idx_t i = 0; i < *n; ++i) part[i] = i * *parts / *n; return 1; }"


def build(folder: Path, name: str, source: str, *options: str) -> None:
    """A shared library."""
    path = folder / f"{name}.c"
    path.write_text(source, encoding="ascii")
    subprocess.run(["cc", "-w", "-shared", "-fPIC", *options, path, "-o", folder / name], check=True, timeout=60)


def build_metis(folder: Path, end: str, whole: str = "int32_t", real: str = "float", *options: str) -> None:
    """A library by the name of METIS, and no pymetis that could replace it."""
    (folder / "sitecustomize.py").write_text("import sys; sys.modules['pymetis'] = None", encoding="ascii")
    build(folder, "libmetis.so.5", METIS_HEAD + end, f"-Didx_t={whole}", f"-Dreal_t={real}", *options)


def build_scotch(folder: Path, end: str, number: int = 4) -> None:
    """A library by the name of Scotch, and that of its errors."""
    build(folder, "libscotcherr-7.0.so", "void SCOTCH_errorPrint(const char* text, ...) {}")
    build(folder, "libscotch-7.0.so", SCOTCH_HEAD + end, f"-DNUMBER={number}")


@pytest.mark.parametrize("whole", ["int32_t", "int64_t"])
@pytest.mark.parametrize("real", ["float", "double"])
def test_numbers_are_as_wide_as_the_library_has_them(answer: Callable, tmp_path: Path, whole: str, real: str) -> None:
    """A METIS that keeps the order."""
    build_metis(tmp_path, IN_ORDER, whole, real)
    assert answer("METIS") == ("", list(range(16)))


@pytest.mark.parametrize(
    ("end", "whole", "note"),
    [
        (IN_ORDER, "int16_t", "failed: METIS: expected numbers of 32 or 64 bits, found 16"),
        ("raise(SIGSEGV); return 1; }", "int32_t", "failed: ended by SIGSEGV"),
        ("_exit(0); }", "int32_t", "failed: no answer: "),
        ("return -4; }", "int32_t", "failed: METIS_PartGraphRecursive: expected 1, found -4"),
        ("part[3] = *parts; return 1; }", "int32_t", "failed: expected parts 0 .. 3, found 0 .. 4"),
        ("part[3] = -1; return 1; }", "int32_t", "failed: expected parts 0 .. 3, found -1 .. 0"),
        ("sleep(60); return 1; }", "int32_t", "stopped after 3 s"),
    ],
)
def test_a_metis_that_is_none_is_refused_in_words(
    answer: Callable, tmp_path: Path, end: str, whole: str, note: str
) -> None:
    """It crashes, hangs or answers nonsense in a process of its own."""
    build_metis(tmp_path, end, whole)
    found, leaves = answer("METIS", limit=3 if "sleep" in end else 60)
    assert found.startswith(note)
    assert leaves is None


def test_a_metis_that_divides_a_chain_wrongly_is_refused(answer: Callable, tmp_path: Path) -> None:
    """Whatever its widths."""
    build_metis(tmp_path, IN_ORDER, "int32_t", "float", "-DCUT=1")
    assert answer("METIS") == ("failed: METIS divides a chain of four vertices wrongly", None)


def test_a_file_that_is_no_library_is_refused(answer: Callable, tmp_path: Path) -> None:
    """By the loader's words."""
    build_metis(tmp_path, IN_ORDER)
    (tmp_path / "libmetis.so.5").write_text("no library\n" * 100, encoding="ascii")
    assert answer("METIS")[0].startswith(f"failed: {tmp_path}/libmetis.so.5")


def test_a_library_that_lacks_another_is_not_called_missing(answer: Callable, tmp_path: Path) -> None:
    """The other is named."""
    build(tmp_path, "libother-none.so", "int other(void) { return 1; }")
    other = tmp_path / "libother-none.so"
    build_metis(tmp_path, "return 1; }", "int32_t", "float", "-Wl,--no-as-needed", str(other))
    other.unlink()
    note, leaves = answer("METIS")
    assert note.startswith("failed: ")
    assert "libother-none.so" in note
    assert leaves is None


@pytest.mark.parametrize(
    ("end", "number", "note"),
    [
        ("return 0; }", 2, "failed: Scotch: expected numbers of 4 or 8 bytes, found 2"),
        ("return 1; }", 4, "failed: Scotch at step 6"),
        ("for (int i = 0; i < 16; ++i) part[i] = -1; return 0; }", 4, "failed: expected parts 0 .. 15, found -1 .. -1"),
    ],
)
def test_a_scotch_that_is_none_is_refused_in_words(
    answer: Callable, tmp_path: Path, end: str, number: int, note: str
) -> None:
    """The same."""
    build_scotch(tmp_path, end, number)
    assert answer("Scotch, quality") == (note, None)


def test_a_peer_that_crashes_or_overfills_places_leaves_the_others_their_costs(
    compared: Callable, tmp_path: Path
) -> None:
    """In the whole comparison."""
    build_metis(tmp_path, "raise(SIGSEGV); return 1; }")
    build_scotch(tmp_path, "for (int i = 0; i < 16; ++i) part[i] = i / 2; return 0; }")
    rows = compared(write_nested(tmp_path / "p.csv"))
    assert (rows["METIS"]["cost"], rows["METIS"]["note"]) == (None, "failed: ended by SIGSEGV")
    for name in SCOTCH:
        assert (rows[name]["cost"], rows[name]["note"]) == (None, "unbalanced: 8 too many")
    assert all(rows[name]["cost"] is not None for name in OURS)


FAKE_GMAP = """#!{python}
import sys
options = [each for each in sys.argv[1:] if each.startswith("-")]
assert options in (["-b0.01"], ["-b0.01", "-cq"], ["-b0", "-cqb"]), options
graph, machine, answer = [each for each in sys.argv[1:] if not each.startswith("-")]
ranks = int(open(graph).read().split()[1])
assert open(machine).read().split() == ["tleaf", "3", "4", "6", "2", "4", "2", "2"], "root first"
weights = [int(word) for line in open(graph).readlines()[3:] for word in line.split()[1::2]]
assert sum(weights) * 6 < 2**31, "Scotch adds weight times cost in 32 bits"
with open(answer, "w") as file:
    print(ranks, *(f"{{i}}\\t{{i}}" for i in range(ranks)), sep="\\n", file=file)
"""
FAKE_PYMETIS = """
class Options:
    def __init__(self, seed, ufactor):
        assert (seed, ufactor) == (1, 1)

def part_graph(parts, xadj, adjncy, eweights, tpwgts, recursive, options):
    assert len(eweights) == len(adjncy) == xadj[-1] and abs(sum(tpwgts) - 1) < 1e-9
    ranks = len(xadj) - 1
    return 0, [i * parts // ranks for i in range(ranks)]
"""


def write_program(path: Path, text: str) -> None:
    """One that may be run."""
    path.write_text(text, encoding="ascii")
    path.chmod(0o755)


@pytest.mark.parametrize("factor", [1, 10**12])
def test_where_no_library_serves_programs_and_modules_do(compared: Callable, tmp_path: Path, factor: int) -> None:
    """Played ones, which keep the order."""
    build_scotch(tmp_path, "return 0; }", number=2)
    build_metis(tmp_path, IN_ORDER, "int16_t")
    write_program(tmp_path / "scotch_gmap", FAKE_GMAP.format(python=sys.executable))
    (tmp_path / "sitecustomize.py").unlink()
    (tmp_path / "pymetis.py").write_text(FAKE_PYMETIS, encoding="ascii")
    rows = compared(write_nested(tmp_path / "p.csv", factor=factor))
    for name in ("METIS", *SCOTCH):
        assert rows[name]["cost"] == rows["identity"]["cost"], rows[name]["note"]


@pytest.mark.parametrize(("text", "note"), [("exit 3", "failed: "), ("echo $$ >pid; exec sleep 60", "stopped after 8")])
def test_a_program_that_fails_or_takes_too_long_leaves_neither_process_nor_file(
    answer: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, note: str
) -> None:
    """Scotch's program is a child of the peer's process: it must end with it."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.chdir(tmp_path)
    build_scotch(tmp_path, "return 0; }", number=2)
    write_program(tmp_path / "scotch_gmap", f"#!/bin/sh\n{text}\n")
    assert answer("Scotch", limit=8)[0].startswith(note)
    pid = tmp_path / "pid"
    assert pid.exists() == ("sleep" in text)
    if pid.exists():
        state = Path(f"/proc/{pid.read_text(encoding='ascii').strip()}/stat")
        assert not state.exists() or state.read_text(encoding="ascii").split()[2] == "Z"  # ended, if not yet waited for
    assert list((tmp_path / "temporary").iterdir()) == []


def test_peers_that_are_not_there_are_named(
    ranktree: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A module without a library beside it; names that no library has."""
    (tmp_path / "kahip.py").touch()
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    pattern = write_nested(tmp_path / "p.csv")
    result = ranktree("map", pattern, "--machine", MACHINE, "--compare", env=environment)
    assert result.returncode == 0, result.stderr
    assert "not installed" in next(line for line in result.stdout.splitlines() if "KaHIP" in line)
    monkeypatch.setattr(peer_libraries, "METIS_NAME", "libmetis-none.so")
    monkeypatch.setattr(peer_libraries, "SCOTCH_NAMES", ("lib{}-none.so",))
    peer_libraries.metis_library.cache_clear()
    for find in (peer_libraries.metis_library, peer_libraries.scotch_library):
        with pytest.raises(peer_libraries.Refusal, match="not installed"):
            find()


ENDINGS = """
import sys
from pathlib import Path
from ranktree import peers
print(peers.ended(3), peers.ended(-11), peers.ended(-40), sep="; ")
print(peers.read_answer(Path(sys.argv[1]), None).note)
"""


def test_exit_codes_signals_and_missing_answers_are_reported(build_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "answer.npz").touch()
    environment = {**os.environ, "PYTHONPATH": str(build_folder / "python")}
    words = [sys.executable, "-c", ENDINGS, str(tmp_path / "answer.npz")]
    result = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60, check=True)
    endings, answer = result.stdout.splitlines()
    assert endings == "exit code 3; ended by SIGSEGV; ended by signal 40"
    assert answer.startswith("failed: no answer: ")


def test_rebalancing_moves_what_costs_least() -> None:
    """Part 0 holds four, one too many; only rank 3 talks to part 1 alone."""
    chain = (np.array([0, 1, 3, 4, 5, 6]), np.array([1, 0, 2, 1, 4, 3]), np.array([9, 9, 9, 9, 1, 1]))
    part = np.array([0, 0, 0, 0, 1])
    peer_libraries.rebalance(chain, part, np.array([3, 3]))
    assert part.tolist() == [0, 0, 0, 1, 1]


def test_ranks_get_free_slots_even_if_all_are_put_into_one_part() -> None:
    """A root of subtrees with 1, 3 and 2 slots, the second of one leaf that takes three."""
    tree = peer_libraries.Subtrees(
        np.array([1, 4, 5, 6, 0, 0, 0, 0]),
        np.array([3, 1, 1, 2, 0, 0, 0, 0]),
        np.array([6, 1, 3, 2, 1, 3, 1, 1]),
        np.array([0, 0, 1, 4, 0, 1, 4, 5]),
    )
    divided = []

    def divide(graph: peer_libraries.Graph, capacities: np.ndarray) -> peer_libraries.Placed:
        divided.append((graph[0].size - 1, capacities.tolist()))
        return np.zeros(graph[0].size - 1, int), 0.5

    for count, expected in ((6, [6, [3, 2, 1]]), (4, [4, [3, 2]]), (5, [5, [3, 2]])):
        divided.clear()
        empty = (np.zeros(count + 1, int), np.zeros(0, int), np.zeros(0))
        slots, seconds = peer_libraries.along(tree, empty, divide)
        assert divided == [tuple(expected)]
        assert seconds == 0.5
        assert len(set(slots)) == count
        assert set(slots) <= set(range(6))
    assert peer_libraries.along(tree, (np.zeros(1, int), np.zeros(0, int), np.zeros(0)), divide)[0].size == 0
