"""A pattern as an object for notebooks."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import ranktree.pattern
from ranktree import _core
from ranktree import pattern as files
from ranktree.notebook.machine import Machine
from ranktree.notebook.pictures import Picture, heat_map
from ranktree.notebook.tables import table
from ranktree.placement import from_graph, from_sparse, is_array, numbers, require_square
from ranktree.report.units import bytes_text, count_text

if TYPE_CHECKING:
    import networkx
    import scipy.sparse

    from ranktree.notebook.plan import Plan

AMOUNTS = ("bytes", "messages")


class Pattern:
    """Who talks to whom: messages and bytes of each directed pair of ranks.

    Collective calls that a trace keeps as calls count as the messages that the traced MPI sends for them.
    """

    def __init__(self, core: "ranktree.pattern.Pattern", name: str = "pattern", collectives: str = "model") -> None:
        """Wrap a pattern of `ranktree.pattern`; load() and from_matrix() are shorter.

        Parameters
        ----------
        core : ranktree.pattern.Pattern
            The pattern, its collective calls not yet expanded.
        name : str
            Its name in titles and reports.
        collectives : {"model", "openmpi", "mpich", "flat", "none"}
            How collective calls become pairs; "model": as the MPI that was traced.

        Raises
        ------
        ValueError
            For another name of a model, and for what is no such pattern.
        """
        if not isinstance(core, files.Pattern):
            raise ValueError(
                f"core: expected a pattern of ranktree.pattern, found {type(core).__name__}: Pattern.load reads a file"
            )
        model = files.natural_model(core) if collectives == "model" else collectives
        self.recorded: ranktree.pattern.Pattern = core
        self.traffic: ranktree.pattern.Pattern = files.expand(core, model)
        self.name = name
        self.collectives = collectives

    @classmethod
    def load(cls, path: str | Path, collectives: str = "model") -> "Pattern":
        """Read the pattern in a file, as `ranktree.pattern.load` does.

        Parameters
        ----------
        path : str or os.PathLike
            A file of any format of docs/reference/formats/pattern.md.
        collectives : {"model", "openmpi", "mpich", "flat", "none"}
            How collective calls become pairs.

        Returns
        -------
        Pattern
            Named by the path.

        Warns
        -----
        UserWarning
            For what the format cannot hold.

        Raises
        ------
        ValueError
            Where the content of the file is wrong: one line that names file and place.
        OSError
            Where the file cannot be read.
        """
        core, texts = files.read(str(path))
        for text in texts:
            warnings.warn(f"{path}: {text}", stacklevel=2)
        return cls(core, str(path), collectives)

    @classmethod
    def from_matrix(cls, amounts: Any, messages: Any = None, name: str = "pattern") -> "Pattern":
        """Make a pattern of a matrix or graph.

        Parameters
        ----------
        amounts : array_like or sparse matrix or networkx.Graph
            Bytes: entry [i, j] goes from rank i to rank j.
        messages : array_like or sparse matrix or networkx.Graph, optional
            Numbers of messages, of the same shape; unknown where it is left out.
        name : str
            Its name in titles and reports.

        Returns
        -------
        Pattern
            Of point-to-point traffic.

        Raises
        ------
        ValueError
            Where an entry is no finite number of at least 0, or the matrix is not square.
        """
        ranks, sizes = pairs_of(amounts)
        ranks_of_messages, counts = pairs_of(messages) if messages is not None else (ranks, {})
        if ranks_of_messages != ranks:
            raise ValueError(f"messages: expected {ranks} ranks, as many as amounts have, found {ranks_of_messages}")
        keys = sorted({*sizes, *counts})
        ends = np.array(keys, dtype=np.int64).reshape(-1, 2)
        core = _core.Pattern.from_pairs(
            ranks,
            ends[:, 0].copy(),
            ends[:, 1].copy(),
            np.array([counts.get(key, 0.0) for key in keys]),
            np.array([sizes.get(key, 0.0) for key in keys]),
        )
        return cls(core, name)

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return self.traffic.ranks

    @property
    def metadata(self) -> dict[str, Any]:
        """Program, MPI, hosts and the like, where the pattern was traced."""
        return self.recorded.metadata

    def __len__(self) -> int:
        """Number of directed pairs."""
        return len(self.traffic)

    def to_scipy(self, amount: str = "bytes") -> "scipy.sparse.csr_array":
        """Return a sparse matrix: entry [i, j] is what rank i sends to rank j.

        Parameters
        ----------
        amount : {"bytes", "messages"}
            What the entries count.

        Returns
        -------
        scipy.sparse.csr_array
            Square, of doubles.

        Raises
        ------
        ValueError
            For another amount.
        """
        from scipy.sparse import csr_array  # noqa: PLC0415  an optional package

        shape = (self.ranks, self.ranks)
        return csr_array((self.amounts(amount), self.traffic.indices, self.traffic.indptr), shape=shape)

    def to_networkx(self) -> "networkx.DiGraph":
        """Return a directed graph; edges have `bytes`, `messages`, and `weight`, which equals bytes.

        Returns
        -------
        networkx.DiGraph
            Its nodes are the ranks, those without traffic too.
        """
        from networkx import DiGraph  # noqa: PLC0415  an optional package

        graph = DiGraph()
        graph.add_nodes_from(range(self.ranks))
        values = zip(self.amounts("bytes").tolist(), self.amounts("messages").tolist(), strict=True)
        ends = zip(self.senders.tolist(), self.receivers.tolist(), strict=True)
        graph.add_edges_from(
            (a, b, {"bytes": size, "messages": count, "weight": size})
            for (a, b), (size, count) in zip(ends, values, strict=True)
        )
        return graph

    def place(self, machine: "Machine | str", metric: str = "size", **options: Any) -> "Plan":
        """Place the ranks on a machine.

        Parameters
        ----------
        machine : Machine or str
            As `ranktree map --machine` takes it.
        metric : {"size", "msg", "avg"}
            What counts.
        **options
            As of `ranktree.place`; network, unit and cost only where the machine is no Machine, which has its own.

        Returns
        -------
        Plan
            The slot of each rank; it knows this pattern and the machine.

        Raises
        ------
        ValueError
            One line that names what is wrong.
        """
        from ranktree.notebook.plan import Plan  # noqa: PLC0415  plans know patterns
        from ranktree.placement import place  # noqa: PLC0415

        described = {name: options.pop(name) for name in ("network", "unit", "cost") if name in options}
        if described and isinstance(machine, Machine):
            name = next(iter(described))
            raise ValueError(f"{name}: the Machine has its own: Machine(..., {name}=...)")
        where = machine if isinstance(machine, Machine) else Machine(machine, **described)
        core = place(self.recorded, where, metric=metric, collectives=self.collectives, **options)
        return Plan(core.core, pattern=self, machine=where)

    def plot(self, amount: str = "bytes") -> Picture:
        """Draw a heat map, ranks in their own order.

        Parameters
        ----------
        amount : {"bytes", "messages"}
            What is drawn, on a logarithmic scale.

        Returns
        -------
        Picture
            SVG that a notebook shows and save() writes.

        Raises
        ------
        ValueError
            For another amount.
        """
        title = f"{self.name}: {amount} from rank (row) to rank (column), logarithmic"
        return heat_map(self.ranks, self.senders, self.receivers, self.amounts(amount), title)

    @property
    def senders(self) -> npt.NDArray[np.int64]:
        """The sender of each pair."""
        return np.repeat(np.arange(self.ranks), np.diff(self.traffic.indptr))

    @property
    def receivers(self) -> npt.NDArray[np.int32]:
        """The receiver of each pair."""
        return np.asarray(self.traffic.indices)

    def amounts(self, amount: str) -> npt.NDArray[np.float64]:
        """Return bytes or messages of each pair, in the order of `senders` and `receivers`.

        Parameters
        ----------
        amount : {"bytes", "messages"}
            What to return.

        Returns
        -------
        numpy.ndarray
            Doubles.

        Raises
        ------
        ValueError
            For another amount.
        """
        if amount not in AMOUNTS:
            raise ValueError(f"amount: expected {' or '.join(AMOUNTS)}, found '{amount}'")
        return np.asarray(getattr(self.traffic, amount))

    def __repr__(self) -> str:
        """One line."""
        sums = f"{count_text(self.amounts('messages').sum())} messages, {bytes_text(self.amounts('bytes').sum())}"
        return f"<Pattern {self.name}: {self.ranks} ranks, {len(self)} pairs, {sums}>"

    def _repr_html_(self) -> str:
        """What notebooks show: the sums and the heat map."""
        facts = [
            ["ranks", count_text(self.ranks)],
            ["pairs", count_text(len(self))],
            ["messages", count_text(self.amounts("messages").sum())],
            ["bytes", bytes_text(self.amounts("bytes").sum())],
        ]
        facts += [[key, str(self.metadata[key])] for key in ("program", "mpi") if self.metadata[key]]
        amount = "bytes" if self.amounts("bytes").any() else "messages"
        return table(self.name, ["", ""], facts) + self.plot(amount).svg


def pairs_of(amounts: Any) -> tuple[int, dict[tuple[int, int], float]]:
    """Number of ranks, and the amounts above 0 by pair."""
    if is_array(amounts):
        matrix = numbers(amounts)
        require_square(matrix.shape)
        senders, receivers = np.nonzero(matrix)
        values = matrix[senders, receivers]
        ends = zip(senders.tolist(), receivers.tolist(), strict=True)
        return len(matrix), dict(zip(ends, values.tolist(), strict=True))
    if hasattr(amounts, "tocsr"):
        from_sparse(amounts)  # refuses what is no pattern
        matrix = amounts.tocoo()
        found: dict[tuple[int, int], float] = {}
        for a, b, value in zip(matrix.row.tolist(), matrix.col.tolist(), matrix.data.tolist(), strict=True):
            found[a, b] = found.get((a, b), 0.0) + float(value)
        return matrix.shape[0], found
    from_graph(amounts)
    edges: dict[tuple[int, int], float] = {}
    for a, b, value in amounts.edges(data="weight", default=1):
        pair = (a, b) if amounts.is_directed() else (min(a, b), max(a, b))  # networkx may have either end first
        edges[pair] = edges.get(pair, 0.0) + float(value)
    return amounts.number_of_nodes(), edges
