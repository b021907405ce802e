"""The C++ core of ranktree; use the ranktree package's modules instead."""

from collections.abc import Sequence
import os
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


class Error(ValueError):
    pass

class FileError(Error, OSError):
    pass

class Tree:
    """The machine as one tree; leaves are the places where one rank can sit."""

    @property
    def levels(self) -> list[str]:
        """name of each level, root first"""

    @property
    def described(self) -> bool:
        """whether a description made up the names of the nodes"""

    @property
    def costs(self) -> list[float]:
        """cost between two leaves that meet on each level"""

    @property
    def network(self) -> str | None:
        """the network in words where it is no tree, else None"""

    @property
    def leaf_count(self) -> int: ...

    @property
    def object_count(self) -> int: ...

    def describe(self, object: int) -> dict:
        """kind, name, number, children and leaves of an object; 0 is the root"""

    def allowed(self, leaf: int) -> bool:
        """whether a rank may use the leaf"""

    def pus(self, leaf: int) -> list[int]:
        """operating-system numbers of a leaf's PUs"""

    def host(self, leaf: int) -> str:
        """name of the node a leaf is in"""

    def common_level(self, leaf_a: int, leaf_b: int) -> int:
        """level of the lowest common ancestor"""

    def distance(self, leaf_a: int, leaf_b: int) -> float: ...

    def with_metric(self, cost: str) -> Tree:
        """a copy whose distances are hops, latency or bandwidth"""

    def with_costs(self, costs: Sequence[float]) -> Tree:
        """a copy with the given cost of each level above the leaves"""

    def with_allowed(self, leaves: Sequence[int]) -> Tree:
        """a copy in which only these leaves may be used"""

    def forbid(self, host: str | None, pus: Sequence[int]) -> Tree:
        """
        a copy in which no leaf that owns one of these PUs may be used; None: on every host
        """

    def cut_at(self, kind: str) -> Tree:
        """
        a copy whose leaves are the objects of a kind, each owning the PUs below it
        """

    def bundle_leaves(self, count: int) -> Tree:
        """
        a copy whose leaves are bundles of so many: places for ranks of several threads
        """

    def __len__(self) -> int: ...

def load_machine(machine: str = 'live', network: str | None = None) -> Tree:
    """
    A machine: 'live', XML or JSON paths, or a synthetic description. With a file of switches: its network, every host of which is such a node.
    """

def save_machine(path: str, tree: Tree) -> None:
    """Writes a JSON machine file, completely or not at all."""

class Pattern:
    """
    Who talks to whom. Sparse by sender: the receivers of rank i are indices[indptr[i]:indptr[i + 1]]; arrays are read-only numpy arrays.
    """

    @staticmethod
    def from_arrays(indptr: object, indices: object, messages: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], bytes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Pattern:
        """
        A pattern of point-to-point traffic from CSR arrays; refuses what breaks a rule.
        """

    @staticmethod
    def from_pairs(ranks: int, sources: object, destinations: object, messages: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], bytes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], kind: str = 'p2p') -> Pattern:
        """
        A pattern from parallel arrays of pairs in any order; equal pairs are added.
        """

    @property
    def ranks(self) -> int: ...

    @property
    def indptr(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), writable=False)]: ...

    @property
    def indices(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), writable=False)]: ...

    @property
    def messages(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """Messages of each pair, all classes together."""

    @property
    def bytes(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """Bytes of each pair, all classes together."""

    def traffic(self, kind: str) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]]:
        """
        (messages, bytes) of each pair in class p2p, neighbor, collective or rma.
        """

    @property
    def totals(self) -> tuple[float, float]:
        """(messages, bytes) of all pairs and classes together."""

    @property
    def collectives(self) -> list:
        """Collective calls, one dict a kind of call."""

    @property
    def sent(self) -> list:
        """
        Point-to-point messages by communicator, call and bucket of sizes, one dict each.
        """

    @property
    def phases(self) -> list | None:
        """
        What is exchanged between calls by which all ranks synchronise, one dict each: name, count, pairs (indices into `indices`), messages and bytes, summed over its occurrences. All other traffic is one more phase. None: phases were not recorded, all traffic is one.
        """

    @property
    def communicators(self) -> list[tuple[list[int], list[int]]]:
        """(members, remote members) of each, as ranks of MPI_COMM_WORLD."""

    @property
    def metadata(self) -> dict:
        """
        A dict: complete, program, launch, mpi, source, hosts, missing, unattributed. Set to change it.
        """

    @metadata.setter
    def metadata(self, arg: dict, /) -> None: ...

    def __len__(self) -> int: ...

    def __repr__(self) -> str: ...

def load_pattern(path: str, format: str | None = None, metric: str | None = None, whole: bool = False) -> tuple[Pattern, list[str]]:
    """
    Reads a pattern: (Pattern, warnings). Formats: npz, mtx, mat, metis, scotch, csv, prof; by extension when not given. metric (size, msg): what the one number of a format that has only one means. whole: the matrix of a .npy file, or of an .npz file with one array, stays one, as float64 or float32.
    """

def save_pattern(path: str, pattern: Pattern, format: str | None = None, metric: str = 'size') -> list[str]:
    """
    Writes a pattern completely or not at all; returns warnings of what is lost.
    """

def pattern_format(path: str) -> str | None:
    """The name of the format a path's extension stands for, or None."""

def expand_pattern(pattern: Pattern, model: str) -> Pattern:
    """
    A copy in which collective calls have become pairs, by model openmpi, mpich, flat or none.
    """

def natural_model(pattern: Pattern) -> str:
    """The model of the MPI the pattern was traced with."""

OBJECTIVES: tuple = ('bytes', 'messages', 'bottleneck', 'time')

METRICS: tuple = ('size', 'msg', 'avg')

class Slot:
    """What one rank is bound to: a host and PUs by operating-system number."""

    @property
    def host(self) -> str: ...

    @property
    def pus(self) -> list[int]: ...

class CostRow:
    """The cost of one placement: weight by level, root first, and total."""

    @property
    def placement(self) -> str: ...

    @property
    def weight(self) -> list[float]: ...

    @property
    def total(self) -> float: ...

class Plan:
    """The slot of each rank of a job, and the cost."""

    @property
    def slots(self) -> list[Slot]:
        """by rank"""

    @property
    def levels(self) -> list[str]:
        """kind of each level, root first"""

    @property
    def level_costs(self) -> list[float]: ...

    @property
    def described(self) -> bool:
        """whether the machine's hosts have made-up names"""

    @described.setter
    def described(self, arg: bool, /) -> None: ...

    @property
    def hosts(self) -> list[str]:
        """every host of the machine in tree order"""

    @property
    def pus_per_host(self) -> list[int]: ...

    @property
    def algorithm(self) -> str: ...

    @property
    def metric(self) -> str: ...

    @property
    def seed(self) -> int: ...

    @property
    def costs(self) -> list[CostRow]: ...

    @property
    def gain(self) -> bool:
        """False: no plan costs less than the current rank order"""

    @property
    def stopped(self) -> bool:
        """True: the time limit or keep_going stopped the search early"""

    @property
    def bound(self) -> float | None:
        """no placement costs less; None in a plan of an older file"""

    @property
    def gap(self) -> float | None:
        """(cost - bound) / bound; None where there is no bound or it is 0"""

    @property
    def cost(self) -> float:
        """total cost of the plan"""

    @property
    def cost_by_level(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """numpy array: cost of the plan on each level, root first"""

    @property
    def permutation(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))] | None:
        """numpy array: the leaf of each rank; None in a plan read from a file"""

    def to_json(self) -> str:
        """the text of its file, as docs/reference/formats/plan.md specifies it"""

    def save(self, path: str) -> None:
        """writes its file, completely or not at all"""

class Weights:
    """What ranks exchange, both directions added."""

    @staticmethod
    def from_csr(indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Weights:
        """
        from the CSR form of a matrix, columns ascending: what goes from the row's rank to the column's
        """

    @staticmethod
    def from_matrix(matrix: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Weights:
        """from the whole matrix"""

    @property
    def ranks(self) -> int: ...

    def __len__(self) -> int: ...

@overload
def make_plan(tree: Tree, pattern: Pattern, algorithm: str = 'best', metric: str = 'size', seed: int = 1, **keywords) -> Plan:
    """
    Places the ranks of an expanded pattern; the plan never costs more than identity (treematch-2013 §4). Keywords: oversubscribe, preset, threads; time_limit, in seconds; keep_going, a function called now and then, which returns False to keep the best found so far; pins, (rank, leaf) pairs that every placement honours.
    """

@overload
def make_plan(tree: Tree, weights: Weights, algorithm: str = 'best', metric: str = 'size', seed: int = 1, **keywords) -> Plan:
    """The same for weights without a pattern; metric names what they count."""

@overload
def plan_matrix(tree: Tree, matrix: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], algorithm: str = 'best', metric: str = 'size', seed: int = 1, **keywords) -> Plan:
    """
    The same for a numpy array of float64 or float32, whole and row by row: entry [i, j] goes from rank i to rank j.
    """

@overload
def plan_matrix(tree: Tree, matrix: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], algorithm: str = 'best', metric: str = 'size', seed: int = 1, **keywords) -> Plan: ...

def plan_by_objective(tree: Tree, pattern: Pattern, model: tuple[str, str | None], algorithm: str = 'best', seed: int = 1, **keywords) -> tuple:
    """
    The plan by a model (bytes, messages, bottleneck or time; a class of clusters or a file of parameters, or None) and, for each placement of its table, the resource that limits it. Keywords as make_plan.
    """

def is_network_class(name: str) -> bool:
    """
    Whether a class of clusters has this name, as models take it in place of a file of parameters.
    """

def limit_of(tree: Tree, pattern: Pattern, leaf_of: object, model: tuple[str, str | None]) -> dict:
    """
    What limits a placement given as a numpy array of one leaf a rank, by a model as in plan_by_objective.
    """

def usual_levels(tree: Tree, model: tuple[str, str | None]) -> list[str]:
    """
    Kinds of the levels whose latency or bandwidth a model takes from usual values, outermost first.
    """

def latency_seconds(tree: Tree, pattern: Pattern, leaf_of: object, model: tuple[str, str | None]) -> float:
    """
    The part of the seconds of limit_of that fewer bytes would not shorten.
    """

def compute_placement(tree: Tree, pattern: Pattern, algorithm: str = 'best', metric: str = 'size', seed: int = 1, **keywords) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
    """
    The leaf of each rank as the algorithm gives it, as a numpy array; kept even where identity is cheaper. Keywords as make_plan.
    """

def traced_nodes(tree: Tree, hosts: Sequence[str], oversubscribe: bool = False) -> tuple:
    """
    (node of each rank, note): the nodes that the hosts of a trace stand for, none where they do not fit, and a sentence where the machine lacks a host.
    """

def lower_bound(tree: Tree, pattern: Pattern, metric: str = 'size', capacity: int = 1) -> float:
    """What no placement of an expanded pattern costs less than."""

def graph(pattern: Pattern, metric: str = 'size') -> tuple:
    """(indptr, indices, weights) of the symmetric graph that is placed."""

def evaluate(tree: Tree, pattern: Pattern, leaf_of: object, metric: str = 'size') -> tuple:
    """
    (weight by level, total) of a placement given as a numpy array of one leaf a rank.
    """

def choose_grid(tree: Tree, dims: Sequence[int], periods: Sequence[bool], weights: Sequence[float]) -> tuple:
    """
    (dimensions, leaf of each vertex row by row, cost of row order, cost) of the grid of as many processes as the tree has leaves; a dimension of 0 is chosen. Weights: what is exchanged through a plane of each dimension.
    """

def grid_of_pattern(pattern: Pattern, metric: str = 'size') -> object:
    """
    (dimensions, periods, weights of their planes) of the grid that the pattern is; None where it is none.
    """

def load_plan(path: str) -> Plan:
    """The plan in a file."""

def save_plan(path: str, plan: Plan) -> None:
    """Writes a plan, completely or not at all."""

def plan_on_this_node(plan: Plan) -> Plan:
    """The plan without the name of its only host."""

def expand_hostlist(text: str, origin: str) -> list[str]:
    """The names of Slurm's hostlist expression."""

def plan_slots(plan: Plan) -> list:
    """(host, PUs) of each rank."""

def launcher_names() -> list[str]:
    """Launchers that make_launch knows."""

def make_launch(plan: Plan, launcher: str, folder: str, program: Sequence[str], binds: bool = True) -> dict:
    """Files and options with which a launcher follows a plan."""

def probe_script() -> str:
    """A script that prints where the rank running it is."""

def check_occupancy(ranks: list, hosts: list) -> list:
    """
    (trouble, host, ranks, PUs) for ranks [(host, PUs)] on hosts [(name, PUs by core)].
    """

def misplaced(expected: list, found: list, compare_pus: bool) -> list:
    """(rank, expected, found) of each rank that is not where it should be."""

def same_host(a: str, b: str) -> bool:
    """True when both name one host, with or without its domain."""

def cpu_list(pus: Sequence[int]) -> str:
    """"0-2,5"."""

def recover_trace(parts_folder: str | os.PathLike, output: str) -> dict:
    """
    Puts the parts that a run left in a folder together and writes them to `output`: a pattern file. Returns {'ranks', 'complete', 'missing', 'unread'}; `complete` is true when every rank finished, `unread` has a reason for each part that the system did not give.
    """

class Parameters:
    """What the models know of links and memory, by level."""

    @staticmethod
    def usual(levels: int, across: int) -> Parameters:
        """an ordinary cluster: so many levels, the first `across` between nodes"""

    def matched(self, levels: int, across: int) -> Parameters:
        """a copy for a hierarchy of other levels"""

    def with_links(self, links: Sequence[tuple[float, float]]) -> Parameters:
        """a copy with another (latency, seconds per byte) on each level"""

    @property
    def levels(self) -> list[dict]:
        """
        latency, seconds per byte, overheads and gap of each level, outermost first
        """

    @property
    def reduce_per_byte(self) -> float: ...

    @property
    def copy_per_byte(self) -> float: ...

    @property
    def shared_latency(self) -> float: ...

    @property
    def shared_per_byte(self) -> float: ...

    @property
    def node_port(self) -> bool: ...

class MeasuredParameters:
    """What `ranktree calibrate` wrote, and of what."""

    @property
    def parameters(self) -> Parameters: ...

    @property
    def machine(self) -> str:
        """host of rank 0"""

    @property
    def mpi(self) -> str: ...

    @property
    def ranks(self) -> int: ...

    @property
    def nodes(self) -> int: ...

    @property
    def ranks_of_node(self) -> int:
        """of the fullest"""

def load_parameters(path: str) -> MeasuredParameters: ...

def save_parameters(path: str, text: str) -> None:
    """Writes JSON of the format completely or not at all, after checking it."""

class Hierarchy:
    """Ranks in groups of groups."""

    @staticmethod
    def flat(ranks: int) -> Hierarchy: ...

    @staticmethod
    def grouped(ranks: int, groups: int) -> Hierarchy: ...

    @staticmethod
    def from_colours(colours: Sequence[Sequence[int]]) -> Hierarchy:
        """by level, outermost first, and rank"""

    @property
    def ranks(self) -> int: ...

    @property
    def levels(self) -> int: ...

    @property
    def given_levels(self) -> int: ...

class ModelledLaunch:
    """Ranks on the leaves of a machine as the models see them."""

    @property
    def hierarchy(self) -> Hierarchy:
        """groups of groups"""

    @property
    def parameters(self) -> Parameters:
        """of its levels"""

    @property
    def names(self) -> list[str]:
        """of its levels, outermost first"""

    @property
    def source(self) -> str:
        """where the costs of links come from, in words"""

    def predict(self, collective: str, bytes: int, model: str = 'auto', shared: bool = True, groups: int = 0) -> dict:
        """
        One row of `ranktree predict --json`; groups: that many instead of the machine's levels.
        """

def model_launch(tree: Tree, ranks: int, parameters: str | None = None, by_node: bool = False) -> ModelledLaunch:
    """
    Ranks on the leaves in order, or on each node in turn; with the parameters of a file, or of the machine.
    """

def save_rules(path: str, mpi: str, machine: str, rules: Sequence[dict]) -> None:
    """Writes a rules file, completely or not at all."""

def open_mpi_rules(rules: Sequence[dict], json: bool = False) -> str:
    """
    Rules in the words of Open MPI's coll/tuned: of 4 and 5, or the JSON of 6.
    """

def open_mpi_has(collective: str, choice: str) -> bool:
    """whether Open MPI's coll/tuned has the same algorithm"""

def check_collectives(text: str) -> None:
    """
    Raises Error where --collectives or the file of rules that it names cannot be understood.
    """

def is_inline(text: str) -> bool:
    """
    Whether a text for --collectives is one of wishes; otherwise it names a file of rules.
    """

def write_file(path: str, text: str) -> None:
    """Completely or not at all."""

def collective_algorithms(collective: str) -> list[str]: ...

def collective_forms(collective: str) -> list[str]: ...

def predict_candidates(collective: str, bytes: int, machine: Hierarchy, parameters: Parameters, shared: bool = False, most: int = 5) -> list[tuple[str, float]]:
    """(choice, seconds) of the choices worth trying, cheapest first"""

def predict_cost(collective: str, bytes: int, choice: str, machine: Hierarchy, parameters: Parameters, model: str = 'closed') -> float | None:
    """
    Seconds: in closed form (None without one), or by following messages under hockney or loggp.
    """

def predict_segments(collective: str, bytes: int, choice: str, machine: Hierarchy, parameters: Parameters) -> float | None:
    """The best number of segments by the closed form; None without one."""

def predict_groups(collective: str, bytes: int, form: str, algorithm: str, ranks: int, parameters: Parameters) -> dict | None:
    """
    The best number of groups, and the papers' condition; None without a closed form.
    """
