"""`ranktree predict`: its table, picture and JSON; expected values by hand from docs/explanation/models.md."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from xml.etree import ElementTree

import pytest

Run = Callable[..., CompletedProcess[str]]
LATENCY, PER_BYTE = 1e-6, 1e-9
MACHINE = {
    "format": "ranktree-machine",
    "version": 1,
    "shapes": {"thin": "core:1"},
    "network": {"hosts": [{"names": "n[0-63]", "shape": "thin"}]},
    "costs": {
        "Cluster": {"latency_s": LATENCY, "bandwidth_bytes_per_s": 1 / PER_BYTE},
        "Node": {"latency_s": LATENCY, "bandwidth_bytes_per_s": 1 / PER_BYTE},
        "Core": {"latency_s": LATENCY, "bandwidth_bytes_per_s": 1 / PER_BYTE},
    },
}


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """64 nodes of one core, with equal links."""
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(MACHINE))
    return path


def rows_of(result: CompletedProcess[str]) -> list[dict]:
    """The rows of --json."""
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)["rows"]


def test_base_algorithms_cost_as_by_the_formulas(ranktree: Run, machine: Path) -> None:
    rows = rows_of(ranktree("predict", "bcast", "--np", 64, "--machine", machine, "--sizes", "64K,128K", "--json"))
    for row in rows:
        m = row["bytes"]
        whole = LATENCY + m * PER_BYTE
        expected = {
            "flat": 63 * whole,
            "chain": 63 * whole,
            "binomial": 6 * whole,
            "scatter-ring-allgather": (6 + 63) * LATENCY + 2 * 63 / 64 * m * PER_BYTE,
            "scatter-doubling-allgather": 12 * LATENCY + 2 * 63 / 64 * m * PER_BYTE,
        }
        for name, seconds in expected.items():
            assert row["base"][name]["seconds"] == pytest.approx(seconds), name
        least = (math.sqrt(62 * LATENCY) + math.sqrt(m * PER_BYTE)) ** 2  # X* = sqrt((p-2) m B / a)
        assert least <= row["base"]["pipeline"]["seconds"] <= 1.1 * (least + LATENCY)


def test_conditions_are_for_the_links_of_the_launch(ranktree: Run) -> None:
    """Usual links inside a node: 2m/p = 16384 bytes on 8 ranks, alpha/beta = 0.5 us x 5 GB/s, between nodes 20000."""
    arguments = ("predict", "bcast", "--sizes", "64K", "--np", 8, "--model", "closed", "--machine")
    printed = "two levels win if 2m/p < alpha/beta: 1.638e+04 "
    assert printed + ">= 2500\n" in ranktree(*arguments, "node:4 core:8").stdout
    assert printed + "< 2e+04\n" in ranktree(*arguments, "node:8 core:1").stdout


def test_following_messages_finds_the_same(ranktree: Run, machine: Path) -> None:
    arguments = ("predict", "allreduce", "--np", 16, "--machine", machine, "--sizes", "64K", "--json")
    closed, followed = (rows_of(ranktree(*arguments, "--model", model))[0]["base"] for model in ("closed", "hockney"))
    assert "non-overlapping" in followed and "non-overlapping" not in closed
    for name, entry in closed.items():
        assert followed[name]["seconds"] == pytest.approx(entry["seconds"], rel=1e-6), name


def test_groups_and_conditions_are_printed(ranktree: Run, machine: Path) -> None:
    result = ranktree("predict", "bcast", "--np", 64, "--machine", machine, "--sizes", "16K,64K")
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert any(
        line.startswith("chain by leaders, 16K to 64K: G* = 8 (continuous 8.0, best divisor 8)") for line in lines
    )
    # alpha / beta is 1000 bytes: 2m/p is 512 and 2048.
    assert any(line.startswith("scatter-ring-allgather by leaders, 16K: G* = 8") for line in lines)
    assert (
        "scatter-ring-allgather by leaders, 64K: no groups; two levels win if 2m/p < alpha/beta: 2048 >= 1000" in lines
    )


def test_a_number_of_groups_can_be_requested(ranktree: Run, machine: Path) -> None:
    arguments = ("predict", "reduce", "--np", 49, "--machine", machine, "--sizes", "1K", "--groups", 7, "--json")
    best = rows_of(ranktree(*arguments))[0]["hierarchical"]
    assert best["choice"].endswith("groups=7")


def test_a_hierarchy_of_the_machine_is_followed(ranktree: Run) -> None:
    arguments = ("predict", "allreduce", "--np", 64, "--machine", "node:8 package:2 core:4", "--sizes", "1M", "--json")
    packed, in_turn = (rows_of(ranktree(*arguments, *more))[0] for more in ((), ("--by-node",)))
    # The usual links: 2 us and 0.1 ns a byte between nodes, 0.2 ns a byte inside; 0.1 ns a byte to combine. Round
    # robin, the ring crosses the wire with the messages of all eight ranks of a node, 0.1 us apart.
    moved = 63 / 64 * 2**20
    assert packed["base"]["ring"]["seconds"] == pytest.approx(126 * 2e-6 + moved * (2 * 2e-10 + 1e-10))
    assert in_turn["base"]["ring"]["seconds"] == pytest.approx(126 * 2.7e-6 + moved * (2 * 8e-10 + 1e-10))
    assert in_turn["hierarchical"]["seconds"] == pytest.approx(packed["hierarchical"]["seconds"])


@pytest.mark.parametrize("collective", ["allgather", "reduce_scatter"])
def test_the_best_hierarchy_is_printed_even_if_expensive(ranktree: Run, collective: str) -> None:
    """Shared memory is many times cheaper by the model."""
    machine = ("--machine", "node:8 package:1 core:8", "--sizes", "1K,64K")
    for row in rows_of(ranktree("predict", collective, "--np", 64, *machine, "--json")):
        assert row["hierarchical"]["choice"].startswith("messages:"), row["bytes"]


def test_a_collective_that_is_not_known_has_the_nearest_name(ranktree: Run) -> None:
    result = ranktree("predict", "reduce_scatter_block", "--np", 8)
    assert result.returncode == 2 and "did you mean reduce_scatter?" in result.stderr


def test_measured_parameters_count(ranktree: Run, tmp_path: Path) -> None:
    path = tmp_path / "parameters.json"
    level = {"name": "node", "latency_s": 1e-3, "s_per_byte": 0}
    document = {"format": "ranktree-parameters", "version": 1, "levels": [level]}
    path.write_text(json.dumps(document | {"reduce_s_per_byte": 0, "copy_s_per_byte": 0}))
    machine = ("--machine", "node:8 core:1", "--parameters", path)
    rows = rows_of(ranktree("predict", "bcast", "--np", 8, *machine, "--sizes", "1K", "--json"))
    assert rows[0]["base"]["binomial"]["seconds"] == pytest.approx(3e-3)


TWO_LEVELS = MACHINE | {
    "shapes": {"node": "core:4"},
    "network": {"hosts": [{"names": "n[0-15]", "shape": "node"}]},
    "costs": {
        "Cluster": {"latency_s": 1e-4, "bandwidth_bytes_per_s": 2e7},
        "Node": {"latency_s": LATENCY, "bandwidth_bytes_per_s": 1 / PER_BYTE},
        "Core": {"latency_s": LATENCY, "bandwidth_bytes_per_s": 1 / PER_BYTE},
    },
}


def test_small_launches_are_predicted_message_by_message(ranktree: Run, tmp_path: Path) -> None:
    """Up to 32 ranks unless another model is named; both print by which."""
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(TWO_LEVELS))
    words = ("predict", "bcast", "--machine", path, "--sizes", "256K")
    for ranks, model, text in ((32, "loggp", "LogGP, following every message"), (33, "closed", "closed forms")):
        (row,) = rows_of(ranktree(*words, "--np", ranks, "--json"))
        assert row["model"] == model
        assert row["base"] == rows_of(ranktree(*words, "--np", ranks, "--model", model, "--json"))[0]["base"]
        assert f"costs by {text}" in ranktree(*words, "--np", ranks).stdout


def test_the_best_groups_are_those_of_the_machine(ranktree: Run, tmp_path: Path) -> None:
    """A chain in two groups of two nodes crosses two links one after the other, in four groups of a node three: G = 4,
    which the papers' formula names for equal links, is slower here.
    """
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(TWO_LEVELS))
    words = ("predict", "bcast", "--np", 16, "--machine", path, "--sizes", "256K")
    (row,) = rows_of(ranktree(*words, "--json"))
    (chain,) = (each for each in row["groups"] if (each["form"], each["algorithm"]) == ("leaders", "chain"))
    assert chain["groups"] == 4
    assert chain["best"]["choice"] == "messages:chain:form=leaders:groups=2"
    across, inside = 1e-4 + 262144 / 2e7, LATENCY + 262144 * PER_BYTE
    assert chain["best"]["seconds"] == pytest.approx(2 * across + 6 * inside, rel=0.01)
    assert "chain by leaders, 256K: best here 2 groups; on equal links G* = 4" in ranktree(*words).stdout
    assert all(each["best"] is None for each in rows_of(ranktree(*words, "--model", "closed", "--json"))[0]["groups"])


def test_the_table_shows_where_links_were_measured(ranktree: Run, tmp_path: Path) -> None:
    """A launch on one node measures no links between nodes; one with one rank per node measures none inside."""
    path = tmp_path / "parameters.json"
    about = {"format": "ranktree-parameters", "version": 1, "reduce_s_per_byte": 0, "copy_s_per_byte": 0}
    about |= {"mpi": "An MPI 1.2", "machine": "n7", "ranks": 4, "nodes": 1}
    words = ("predict", "bcast", "--np", 8, "--machine", "node:4 core:2", "--sizes", "1K")
    for level, missing in (("core", "between"), ("node", "inside")):
        links = [{"name": level, "latency_s": 1e-3, "s_per_byte": 0}]
        path.write_text(json.dumps(about | {"levels": links}))
        said = f"{path}, 4 ranks on 1 node(s), An MPI 1.2, from n7 on"
        said += f"; {missing} nodes, where it measured nothing, usual ones"
        assert f"costs of links: {said}\n" in ranktree(*words, "--parameters", path).stdout
        assert json.loads(ranktree(*words, "--parameters", path, "--json").stdout)["links"] == said
    assert "costs of links: usual ones, nothing was measured\n" in ranktree(*words).stdout


def test_costs_of_a_machine_file_count_on_the_levels_that_have_them(ranktree: Run, tmp_path: Path) -> None:
    """hier-bcast-2014 §3: log2 p (a + m b) for a binomial tree. One rank a node, then all ranks on one."""
    path = tmp_path / "machine.json"
    shapes, network = {"wide": "core:4"}, {"hosts": [{"names": "n[0-7]", "shape": "wide"}]}
    document = MACHINE | {"shapes": shapes, "network": network}
    words = ("predict", "bcast", "--np", 8, "--machine", path, "--sizes", "64K", "--by-node", "--json")
    for latency, per_byte in ((LATENCY, PER_BYTE), (7 * LATENCY, 5 * PER_BYTE)):
        costs = {"Cluster": {"latency_s": latency, "bandwidth_bytes_per_s": 1 / per_byte}}
        path.write_text(json.dumps(document | {"costs": costs}))
        result = ranktree(*words)
        seconds = 3 * (latency + 65536 * per_byte)
        assert rows_of(result)[0]["base"]["binomial"]["seconds"] == pytest.approx(seconds)
        assert json.loads(result.stdout)["links"] == "the machine's latency and bandwidth; usual ones on core"
    path.write_text(json.dumps(document | {"costs": {}}))
    usual = json.loads(ranktree(*words).stdout)
    path.write_text(json.dumps(document | {"costs": {"Cluster": {"latency_s": 1.0}}}))
    late = json.loads(ranktree(*words).stdout)
    assert late["levels"][0]["latency"] == 1.0
    assert late["levels"][0]["per_byte"] == usual["levels"][0]["per_byte"]
    assert late["levels"][1] == usual["levels"][1]
    assert late["links"] == "the machine's latency and bandwidth; usual ones on node, core"


def test_costs_of_a_torus_count_where_all_levels_have_them(ranktree: Run, tmp_path: Path) -> None:
    """Latency of neighbours, bandwidth of the narrowest dimension."""
    path = tmp_path / "machine.json"
    torus = {
        "kind": "torus",
        "dims": [4, 2],
        "latency_s": {"hop": LATENCY},
        "bandwidth_bytes_per_s": {"hop": [4 / PER_BYTE, 1 / PER_BYTE]},
        "hosts": [{"names": "n[0-7]", "shape": "thin"}],
    }
    inside = {"latency_s": 0, "bandwidth_bytes_per_s": 1 / PER_BYTE}
    document = MACHINE | {"network": torus, "costs": {"Node": inside, "Core": inside}}
    words = ("predict", "bcast", "--np", 8, "--machine", path, "--sizes", "64K", "--json")
    path.write_text(json.dumps(document))
    found = json.loads(ranktree(*words).stdout)
    assert found["links"] == "the machine's latency and bandwidth"
    assert found["levels"][0]["latency"] == pytest.approx(LATENCY)
    assert found["levels"][0]["per_byte"] == pytest.approx(PER_BYTE)
    del torus["bandwidth_bytes_per_s"]
    path.write_text(json.dumps(document))
    assert json.loads(ranktree(*words).stdout)["links"] == "usual ones, nothing was measured"


def test_ranks_are_on_allowed_leaves_only(ranktree: Run, tmp_path: Path) -> None:
    """Two of three cores of each node: four ranks are on two nodes, and five have no place."""
    path = tmp_path / "machine.json"
    cores = [{"kind": "Core", "os_index": core, "allowed": core > 0} for core in range(3)]
    shapes, network = {"part": {"children": cores}}, {"hosts": [{"names": "n[0-1]", "shape": "part"}]}
    costs = MACHINE["costs"] | {"Cluster": {"latency_s": 1.0, "bandwidth_bytes_per_s": 1 / PER_BYTE}}
    path.write_text(json.dumps(MACHINE | {"shapes": shapes, "network": network, "costs": costs}))
    words = ("predict", "bcast", "--machine", path, "--sizes", "64K", "--json")
    for ranks, least in ((2, 0), (3, 1), (4, 1)):
        seconds = rows_of(ranktree(*words, "--np", ranks))[0]["base"]["flat"]["seconds"]
        assert least <= seconds < least + 2
    result = ranktree(*words, "--np", 5)
    assert (result.returncode, "slots for 4 ranks" in result.stderr) == (1, True)


@pytest.mark.parametrize("name", ["plot.svg", "plot.html"])
def test_a_picture_is_written(ranktree: Run, machine: Path, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    result = ranktree("predict", "bcast", "--np", 64, "--machine", machine, "--sizes", "1K:64K", "--plot", path)
    assert result.returncode == 0, result.stderr
    text = path.read_text()
    assert ("<!DOCTYPE html>" in text) == name.endswith(".html")
    picture = ElementTree.fromstring(text[text.index("<svg") : text.index("</svg>") + 6])
    space = "{http://www.w3.org/2000/svg}"
    lines = picture.findall(f"{space}polyline")
    assert len(lines) == 10  # nine base algorithms and the best in groups
    assert all(len(line.attrib["points"].split()) == 7 for line in lines)
    assert "binomial" in [each.text for each in picture.findall(f"{space}text")]


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["nothing", "--np", 4], 2, "no such collective: 'nothing'"),
        (["bcast", "--np", 1], 2, "--np"),
        (["bcast", "--np", 4, "--model", "logp"], 2, "--model"),
        (["bcast", "--np", 400, "--model", "loggp", "--machine", "node:400 core:1"], 2, "--model"),
        (["bcast", "--np", 4, "--plot", "x.png"], 2, "--plot"),
        (["bcast", "--np", 4, "--groups", 5], 2, "--groups"),
        (["bcast", "--np", 9, "--machine", "node:2 core:4"], 1, "ranktree: --np: the machine has slots for 8 ranks"),
        (["bcast", "--np", 4, "--machine", "core:4", "--sizes", "1K:x"], 1, "ranktree: sizes: expected bytes such as"),
        (["bcast", "--np", 4, "--machine", "core:4", "--sizes", "2K:1K"], 1, "ranktree: sizes: expected the smaller"),
        (["bcast", "--np", 4, "--machine", "core:4", "--parameters", "/no.json"], 1, "ranktree: /no.json"),
    ],
)
def test_errors_name_the_fault(ranktree: Run, arguments: list, code: int, text: str) -> None:
    result = ranktree("predict", *arguments)
    assert result.returncode == code
    assert text in result.stderr
