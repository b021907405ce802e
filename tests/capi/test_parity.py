"""C, C++, Python and the command line make the same plan, launch and prediction of the same input."""

import json
import subprocess
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# Two hardware threads a core: placing by PU and by core gives other plans.
MACHINE = "switch:2 node:2 package:2 core:2 pu:2"
NETWORK = "SwitchName=s0 Nodes=a,b\nSwitchName=s1 Nodes=c,d\nSwitchName=top Switches=s0,s1\n"
LATENCIES = """{"format": "ranktree-machine", "version": 1, "shapes": {"node": "package:2 core:4"},
 "network": {"hosts": [{"names": "x[0-3]", "shape": "node"}]},
 "costs": {"Cluster": {"latency_s": 2e-6, "bandwidth_bytes_per_s": 1e9},
           "Node": {"latency_s": 3e-7, "bandwidth_bytes_per_s": 2e10},
           "Package": {"latency_s": 1e-7, "bandwidth_bytes_per_s": 4e10},
           "Core": {"latency_s": 5e-8, "bandwidth_bytes_per_s": 8e10}}}"""
CASES = [
    {},
    {"unit": "pu"},
    {"metric": "msg"},
    {"metric": "avg", "preset": "strong"},
    {"collectives": "none"},
    {"collectives": "flat", "seed": "7"},
    {"algorithm": "treematch"},
    {"algorithm": "round-robin"},
    {"objective": "bytes"},
    {"objective": "messages"},
    {"objective": "bottleneck", "unit": "pu"},
    {"objective": "time", "seed": "3"},
]
# In C++ as well; the file has the cost of links.
OBJECTIVES = [
    {"objective": "messages"},
    {"objective": "bottleneck", "parameters": "ethernet-1g"},
    {"objective": "time"},
    {"objective": "time", "parameters": "parameters.json"},
]


def built(compiler: str, source: str, folder: Path, build: Path) -> Path:
    """A program of programs/, linked with the library of the build tree."""
    lib = build / "lib"
    words = [compiler, HERE / "programs" / source, "-o", folder / source.replace(".", "_"), f"-I{ROOT / 'include'}"]
    words += [f"-L{lib}", f"-Wl,-rpath,{lib}", "-lranktree", *(["-std=c++20"] if compiler == "c++" else [])]
    subprocess.run([str(word) for word in words], check=True, timeout=120)
    return folder / source.replace(".", "_")


@pytest.fixture(scope="module")
def programs(build_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """place.c, place.cpp, predict.c and predict.cpp as programs."""
    folder = tmp_path_factory.mktemp("programs")
    sources = {"cc": ("cc", "place.c"), "c++": ("c++", "place.cpp")}
    sources |= {"predict": ("cc", "predict.c"), "predict++": ("c++", "predict.cpp")}
    return {name: built(*words, folder, build_folder) for name, words in sources.items()}


@pytest.fixture(scope="module")
def pattern(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pattern of 16 ranks: rings of several strides, with other messages than bytes, and collective calls."""
    folder = tmp_path_factory.mktemp("pattern")
    lines = ["src,dst,messages,bytes,class"]
    lines += [f"{i},{(i + 6) % 16},{1 + i % 3},{1000 * (1 + i % 5)},p2p" for i in range(16)]
    lines += [f"{i},{(i + 2) % 16},{90 - 4 * (i % 4)},{700 + 3 * i},p2p" for i in range(16)]
    lines += [f"{i},{(i + 11) % 16},5,{4000 * (i % 2)},collective" for i in range(16)]
    (folder / "app.csv").write_text("\n".join(lines) + "\n", encoding="ascii")
    return folder / "app.csv"


def run(*words: object) -> subprocess.CompletedProcess[str]:
    """A program that must succeed."""
    result = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    return result


def options_of(case: dict[str, str]) -> list[str]:
    """As the command line takes them, which minimises time by default."""
    default = {} if "objective" in case else {"metric": "size"}
    return [word for name, value in (default | case).items() for word in (f"--{name}", value)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(case.values()) or "defaults")
def test_the_same_plan(
    case: dict[str, str], programs: dict[str, Path], pattern: Path, command: str, tmp_path: Path
) -> None:
    """To the last byte of its file, from C, Python and the command line; from C++ with the defaults."""
    import ranktree  # noqa: PLC0415  the package of the build tree

    run(command, "map", pattern, "--machine", MACHINE, "-o", tmp_path / "cli.json", *options_of(case))
    run(programs["cc"], pattern, tmp_path / "c.json", f"machine={MACHINE}", *(f"{k}={v}" for k, v in case.items()))
    options = {name: int(value) if name == "seed" else value for name, value in case.items()}
    ranktree.place(pattern, MACHINE, **options).save(tmp_path / "python.json")
    expected = (tmp_path / "cli.json").read_text(encoding="utf-8")
    assert '"described": true' in expected
    assert (tmp_path / "c.json").read_text(encoding="utf-8") == expected
    assert (tmp_path / "python.json").read_text(encoding="utf-8") == expected
    if not case:
        run(programs["c++"], pattern, tmp_path / "cxx.json", MACHINE)
        assert (tmp_path / "cxx.json").read_text(encoding="utf-8") == expected


@pytest.mark.parametrize("case", OBJECTIVES, ids=lambda case: " ".join(case.values()))
@pytest.mark.parametrize("name", ["app.csv", "app.mtx", "app.npy"])
def test_the_same_plan_by_an_objective(  # noqa: PLR0913, PLR0917
    name: str, case: dict[str, str], programs: dict[str, Path], pattern: Path, command: str, tmp_path: Path
) -> None:
    """From C, C++, Python and the command line, of files with both numbers and with one."""
    import ranktree  # noqa: PLC0415  the package of the build tree

    given = written(pattern, tmp_path / name)
    (tmp_path / "parameters.json").write_text(PARAMETERS, encoding="ascii")
    case = {key: str(tmp_path / value) if value.endswith(".json") else value for key, value in case.items()}
    run(command, "map", given, "--machine", MACHINE, "-o", tmp_path / "cli.json", *options_of(case))
    run(programs["cc"], given, tmp_path / "c.json", f"machine={MACHINE}", *(f"{k}={v}" for k, v in case.items()))
    run(programs["c++"], given, tmp_path / "cxx.json", MACHINE, *case.values())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranktree.place(given, MACHINE, **case).save(tmp_path / "python.json")
    expected = (tmp_path / "cli.json").read_text(encoding="utf-8")
    for made in ("c", "cxx", "python"):
        assert (tmp_path / f"{made}.json").read_text(encoding="utf-8") == expected, made


# The host of each rank of a trace; whether the plan's table has it, and the end of what is reported.
TRACES = {
    "others": ([f"cn{12 + i % 4}" for i in range(16)], True, "on its nodes in order (n0, n1, n2, n3)"),
    "full": ([f"cn{i % 2}" for i in range(16)], False, "is compared with the current rank order"),
    "more": ([f"cn{i % 8}" for i in range(16)], False, "is compared with the current rank order"),
    "mixed": ([f"n{1 + i % 4}" for i in range(16)], True, "on its nodes in order (n0, n1, n2, n3)"),
    "domain": ([f"n{3 - i % 4}.cluster.org" for i in range(16)], True, None),
    "same": ([f"n{3 - i % 4}" for i in range(16)], True, None),
    "unknown": (["cn1", *[""] * 15], False, None),
}


@pytest.mark.parametrize("objective", [None, "time"])
@pytest.mark.parametrize("name", TRACES)
def test_the_same_comparison_with_traced_hosts(
    name: str, objective: str | None, programs: dict[str, Path], pattern: Path, command: str, tmp_path: Path
) -> None:
    """That the machine has, or that stand for its nodes: the same plan and the same note from all."""
    import ranktree  # noqa: PLC0415  the package of the build tree

    hosts, is_row, end = TRACES[name]
    case = {} if objective is None else {"objective": objective}
    given = traced_on(hosts, pattern, tmp_path)
    cli = run(command, "map", given, "--machine", MACHINE, "-o", tmp_path / "cli.json", *options_of(case))
    words = [f"{k}={v}" for k, v in case.items()]
    in_c = run(programs["cc"], given, tmp_path / "c.json", f"machine={MACHINE}", *words)
    in_cpp = run(programs["c++"], given, tmp_path / "cxx.json", MACHINE, *case.values())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ranktree.place(given, MACHINE, **case).save(tmp_path / "python.json")
    notes = [line.removeprefix("ranktree: ") for line in cli.stderr.splitlines()]
    assert len(notes) == (0 if end is None else 1)
    assert all(note.startswith("the hosts of the trace (") and note.endswith(end) for note in notes)
    assert in_c.stderr == in_cpp.stderr == cli.stderr
    assert [str(one.message) for one in caught] == notes
    assert all(one.filename == __file__ for one in caught)
    expected = (tmp_path / "cli.json").read_text(encoding="utf-8")
    assert ("traced" in {row["placement"] for row in json.loads(expected)["costs"]}) == is_row
    for made in ("c", "cxx", "python"):
        assert (tmp_path / f"{made}.json").read_text(encoding="utf-8") == expected, made


@pytest.mark.parametrize(
    ("machine", "flag", "keyword"),
    [
        ("node:2 core:4", ["--oversubscribe"], {"oversubscribe": True}),
        ("node:4 package:2 core:4", ["--threads-per-rank", "2"], {"threads_per_rank": 2}),
    ],
    ids=["shared slots", "several slots each"],
)
def test_the_same_plan_of_other_numbers_of_slots(  # noqa: PLR0913, PLR0917
    machine: str, flag: list[str], keyword: dict, programs: dict[str, Path], pattern: Path, command: str, tmp_path: Path
) -> None:
    """Which also decides whether the hosts of a trace fit on the nodes: both have as many slots as the ranks need."""
    import ranktree  # noqa: PLC0415  the package of the build tree

    nodes = int(machine[5])
    given = traced_on([f"cn{i % nodes}" for i in range(16)], pattern, tmp_path)
    cli = run(command, "map", given, "--machine", machine, *flag, *options_of({}), "-o", tmp_path / "cli.json")
    words = [f"{name.replace('_', '-')}={int(value)}" for name, value in keyword.items()]
    in_c = run(programs["cc"], given, tmp_path / "c.json", f"machine={machine}", *words)
    with pytest.warns(UserWarning, match="on its nodes in order"):
        ranktree.place(given, machine, **keyword).save(tmp_path / "python.json")
    expected = (tmp_path / "cli.json").read_text(encoding="utf-8")
    assert "on its nodes in order" in cli.stderr
    assert in_c.stderr == cli.stderr
    assert "traced" in {row["placement"] for row in json.loads(expected)["costs"]}
    for made in ("c", "python"):
        assert (tmp_path / f"{made}.json").read_text(encoding="utf-8") == expected, made


def traced_on(hosts: list[str], pattern: Path, folder: Path) -> Path:
    """The pattern as a trace of ranks on these hosts."""
    from ranktree.pattern import load, save  # noqa: PLC0415  the package of the build tree

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = load(pattern)
    found.metadata = found.metadata | {"hosts": hosts}
    save(str(folder / "app.npz"), found)
    return folder / "app.npz"


def written(pattern: Path, path: Path) -> Path:
    """The bytes of a pattern in a file of another format."""
    if path.suffix == pattern.suffix:
        return pattern
    from ranktree.pattern import load, save  # noqa: PLC0415  the package of the build tree

    if path.suffix == ".mtx":
        save(str(path), load(pattern))
        return path
    found = load(pattern)
    matrix = np.zeros((found.ranks, found.ranks))
    matrix[np.repeat(np.arange(found.ranks), np.diff(found.indptr)), found.indices] = found.bytes
    np.save(path, matrix)
    return path


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("parameters=ethernet-1g",), "wrong input: options.parameters: expected options.objective beside it"),
        (("objective=time", "metric=msg"), "wrong input: options.metric: expected RANKTREE_METRIC_SIZE beside"),
        (("objective=time", "parameters=/no.json"), "/no.json"),
        (("objective=speed",), "expected 'bytes', 'messages', 'bottleneck' or 'time', found 'speed'"),
    ],
)
def test_wrong_objectives_are_refused(
    words: tuple, reason: str, programs: dict[str, Path], pattern: Path, tmp_path: Path
) -> None:
    """With a status and one line, and no plan."""
    command = [programs["cc"], pattern, tmp_path / "plan.json", f"machine={MACHINE}", *words]
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 1
    assert reason in result.stderr
    assert not (tmp_path / "plan.json").exists()


MATRICES = ["c.npy", "float.npy", "columns.npy", "swapped.npy", "whole.npz", "csr.npz", "csc.npz", "coo.npz"]


@pytest.mark.parametrize("name", MATRICES)
def test_matrices_of_numpy_and_scipy_are_loaded_by_all(
    name: str, programs: dict[str, Path], pattern: Path, command: str, tmp_path: Path
) -> None:
    """With the same plan, which is also that of the same numbers as text."""
    import ranktree  # noqa: PLC0415  the package of the build tree

    whole = np.load(written(pattern, tmp_path / "c.npy"))
    path = tmp_path / name
    form = path.stem
    if form == "whole":
        np.savez_compressed(path, whole)
    elif path.suffix == ".npy":
        changed = {"c": whole, "float": np.float32(whole), "columns": np.asfortranarray(whole)}
        np.save(path, changed[form] if form in changed else whole.astype(">i4"))
    else:
        scipy_sparse = pytest.importorskip("scipy.sparse")
        scipy_sparse.save_npz(path, getattr(scipy_sparse, f"{form}_array")(whole))
    run(command, "map", path, "--machine", MACHINE, *options_of({}), "-o", tmp_path / "cli.json")
    run(programs["cc"], path, tmp_path / "c.json", f"machine={MACHINE}")
    run(programs["c++"], path, tmp_path / "cxx.json", MACHINE)
    run(programs["cc"], written(pattern, tmp_path / "a.mtx"), tmp_path / "text.json", f"machine={MACHINE}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranktree.place(path, MACHINE).save(tmp_path / "python.json")
    expected = (tmp_path / "cli.json").read_text(encoding="utf-8")
    for made in ("c", "cxx", "python", "text"):
        assert (tmp_path / f"{made}.json").read_text(encoding="utf-8") == expected, made


def test_a_unit_and_a_metric_change_the_plan(programs: dict[str, Path], pattern: Path, tmp_path: Path) -> None:
    """So the options of the test above are no decoration."""
    plans = set()
    for number, case in enumerate(CASES):
        path = tmp_path / f"{number}.json"
        run(programs["cc"], pattern, path, f"machine={MACHINE}", *(f"{k}={v}" for k, v in case.items()))
        plans.add(path.read_text(encoding="utf-8"))
    assert len(plans) >= 6


@pytest.mark.parametrize("cost", ["hops", "latency", "bandwidth"])
def test_the_same_costs_and_networks(
    cost: str, programs: dict[str, Path], pattern: Path, command: str, tmp_path: Path
) -> None:
    """Of a machine file with latencies, and of hosts behind switches."""
    machine, network = tmp_path / "machine.json", tmp_path / "topology.conf"
    machine.write_text(LATENCIES, encoding="ascii")
    network.write_text(NETWORK, encoding="ascii")
    cases = [{"machine": machine, "cost": cost}]
    cases += [{"machine": "package:2 core:4", "network": network}] if cost == "hops" else []
    for case in cases:
        words = options_of(case)
        run(command, "map", pattern, *words, "-o", tmp_path / "cli.json")
        run(programs["cc"], pattern, tmp_path / "c.json", *(f"{name}={value}" for name, value in case.items()))
        expected = (tmp_path / "cli.json").read_text(encoding="utf-8")
        assert "described" not in expected
        assert (tmp_path / "c.json").read_text(encoding="utf-8") == expected


@pytest.mark.parametrize(
    "launcher", ["openmpi4", "openmpi5", "mpich", "intel", "slurm", "cray", "aprun", "pals", "jsrun", "flux", "generic"]
)
def test_the_same_launch(
    launcher: str, programs: dict[str, Path], pattern: Path, ranktree: Callable, tmp_path: Path
) -> None:
    """Files, their modes, command and notes."""
    plan, ours, theirs = tmp_path / "plan.json", tmp_path / "ours", tmp_path / "theirs"
    machine = tmp_path / "machine.json"  # whose hosts count as real, as those of a description do not
    assert ranktree("topo", MACHINE, "-o", machine).returncode == 0
    words = (f"machine={machine}", "unit=pu", f"launcher={launcher}", f"folder={ours}")
    made = run(programs["cc"], pattern, plan, *words)
    emitted = ranktree("emit", plan, "--launcher", launcher, "-o", theirs, "--", "./app", "it's", "-n")
    assert emitted.returncode == 0, emitted.stderr
    assert made.stdout == emitted.stdout.replace(str(theirs), str(ours))
    assert made.stderr == emitted.stderr
    assert {path.name for path in ours.iterdir()} == {path.name for path in theirs.iterdir()}
    for path in ours.iterdir():
        expected = (theirs / path.name).read_text(encoding="ascii").replace(str(theirs), str(ours))
        assert path.read_text(encoding="ascii") == expected
        assert path.stat().st_mode == (theirs / path.name).stat().st_mode


PARAMETERS = """{"format": "ranktree-parameters", "version": 1, "mpi": "An MPI 1.2", "machine": "n7", "ranks": 4,
 "nodes": 1, "levels": [{"name": "core", "latency_s": 1e-6, "s_per_byte": 3e-10}],
 "reduce_s_per_byte": 1e-10, "copy_s_per_byte": 1e-10}"""
PREDICTIONS = [
    {},
    {"by-node": "1"},
    {"no-shared": "1", "groups": "3"},
    {"model": "hockney"},
    {"model": "loggp"},
    {"parameters": "parameters.json"},
]


def lines_of(row: dict) -> list[str]:
    """A row of `ranktree predict --json` as predict.c prints it."""
    lines = [f"base {name} {each['choice']} {each['seconds']:.17g}" for name, each in row["base"].items()]
    for kind in ("hierarchical", "shared"):
        lines += [f"{kind} - {row[kind]['choice']} {row[kind]['seconds']:.17g}"] if row[kind] else []
    for each in row["groups"]:
        words = [each["form"], each["algorithm"], each["groups"], f"{each['seconds']:.17g}", each["divisor"]]
        words += [f"{each['divisor_seconds']:.17g}", f"{each['continuous']:.17g}", each["condition_groups"]]
        words += [int(bool(each["holds"])), each["condition"] or "-"]
        best = each["best"] or {"choice": "-", "seconds": 0}
        words += [best["choice"], f"{best['seconds']:.17g}"]
        lines.append(" ".join(map(str, ["groups", *words])))
    return lines


@pytest.mark.parametrize("collective", ["bcast", "allreduce", "alltoall", "barrier"])
@pytest.mark.parametrize("case", PREDICTIONS, ids=lambda case: " ".join(case) or "defaults")
def test_the_same_prediction(
    collective: str, case: dict[str, str], programs: dict[str, Path], command: str, tmp_path: Path
) -> None:
    """Choices, seconds to the last bit, groups, conditions and the source of the links; in C++ with the defaults."""
    from ranktree.prediction import predict  # noqa: PLC0415  the package of the build tree

    machine, size = "node:4 package:2 core:4", 100_000
    case = {name: str(tmp_path / value) if name == "parameters" else value for name, value in case.items()}
    (tmp_path / "parameters.json").write_text(PARAMETERS, encoding="ascii")
    flags = ("by-node", "no-shared")
    options = [word for name, value in case.items() for word in (f"--{name}", *([] if name in flags else [value]))]
    words = ("--np", 24, "--machine", machine, "--sizes", size, "--json", *options)
    document = json.loads(run(command, "predict", collective, *words).stdout)
    expected = lines_of(document["rows"][0])
    assert any(line.startswith("hierarchical") for line in expected)
    in_c = run(programs["predict"], machine, collective, 24, size, *(f"{k}={v}" for k, v in case.items()))
    assert in_c.stdout.splitlines() == [*expected, document["links"]]
    keywords = {"by-node": {"by_node": True}, "no-shared": {"shared": False}}
    given: dict = {}
    for name, value in case.items():
        given |= keywords.get(name, {name: int(value) if name == "groups" else value})
    assert predict(collective, 24, size, machine, **given) == document["rows"][0]
    if not case:
        in_cpp = run(programs["predict++"], machine, collective, 24, size).stdout.splitlines()
        assert in_cpp == [line for line in expected if not line.startswith("groups")]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (
            ("node:2 core:4", "bcast", 9, 8),
            "inputs do not fit each other: ranks: the machine has slots for 8 ranks, found 9",
        ),
        (("node:2 core:4", "spread", 8, 8), "wrong input: collective: expected bcast"),
        (("node:2 core:4", "bcast", 1, 8), "wrong input: ranks: expected at least 2, found 1"),
        (("node:2 core:4", "bcast", 8, 8, "groups=9"), "wrong input: groups: expected 0..8, found 9"),
        (
            ("node:50 core:4", "bcast", 200, 8, "model=loggp"),
            "unsupported request: model: expected closed for more than 128",
        ),
        (("node:2 core:4", "bcast", 8, 8, "parameters=/no.json"), "/no.json"),
    ],
)
def test_wrong_predictions_are_refused(words: tuple, text: str, programs: dict[str, Path]) -> None:
    """With a status and one line."""
    result = subprocess.run(
        [programs["predict"], *map(str, words)], capture_output=True, text=True, timeout=60, check=False
    )
    assert result.returncode == 1
    assert text in result.stderr
