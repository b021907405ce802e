"""A machine as an object for notebooks."""

import os
from html import escape
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ranktree import _core
from ranktree.machine_text import tree_lines
from ranktree.notebook.pictures import Picture, levels
from ranktree.placement import tree_of
from ranktree.report.shape import Shape, of_tree

if TYPE_CHECKING:
    import networkx


class Machine:
    """A machine as a tree of levels; its slots are the places of one rank each."""

    def __init__(
        self,
        machine: "str | os.PathLike[str]" = "live",
        network: "str | os.PathLike[str] | None" = None,
        unit: str = "core",
        cost: str = "hops",
    ) -> None:
        """Load a machine.

        Parameters
        ----------
        machine : str or os.PathLike
            "live", paths of hwloc XML joined by commas, a JSON machine file, or a description such as "node:4 core:8".
        network : str or os.PathLike, optional
            A file of switches (docs/reference/formats/network.md), each host of which is such a machine.
        unit : {"core", "pu"}
            What the slot of a rank is.
        cost : {"hops", "latency", "bandwidth"}
            What the distance of two slots is.

        Raises
        ------
        ValueError
            Where the description, an option or a file is wrong.
        OSError
            Where a file cannot be read.
        """
        self.tree: _core.Tree = tree_of(machine, unit, cost, network)
        self.text = os.fspath(machine) if isinstance(machine, os.PathLike) else machine
        self.network = os.fspath(network) if network is not None else None
        self.unit = unit
        self.cost = cost

    @property
    def levels(self) -> list[str]:
        """Kinds of the levels, root first."""
        return self.tree.levels

    @property
    def costs(self) -> list[float]:
        """Cost of two slots that meet on each level."""
        return self.tree.costs

    @property
    def nodes(self) -> list[str]:
        """Names of the nodes."""
        return self.shape.nodes

    @property
    def shape(self) -> Shape:
        """The tree as arrays over the slots."""
        return of_tree(self.tree)

    def __len__(self) -> int:
        """Number of slots."""
        return self.tree.leaf_count

    def distances(self) -> npt.NDArray[np.float64]:
        """Return the cost between every two slots.

        Returns
        -------
        numpy.ndarray
            Square, of doubles.
        """
        slots = np.arange(len(self))
        if self.tree.network is not None:
            return np.array([[self.tree.distance(a, b) for b in slots.tolist()] for a in slots.tolist()])
        first, second = np.repeat(slots, len(self)), np.tile(slots, len(self))
        found = np.array(self.costs)[self.shape.common_level(first, second)]
        return np.asarray(found.reshape(len(self), len(self)), dtype=np.float64)

    def to_networkx(self) -> "networkx.DiGraph":
        """Return the tree as a directed graph from the root.

        Returns
        -------
        networkx.DiGraph
            Nodes have `kind` and `name`, leaves also `slot` and `pus`.
        """
        from networkx import DiGraph  # noqa: PLC0415  an optional package

        graph = DiGraph()
        for number in range(self.tree.object_count):
            about = self.tree.describe(number)
            graph.add_node(number, kind=about["kind"], name=about["name"])
            if not about["children"]:
                slot = about["first_leaf"]
                graph.add_node(number, slot=slot, pus=self.tree.pus(slot))
            first = about["first_child"]
            graph.add_edges_from((number, child) for child in range(first, first + about["children"]))
        return graph

    def plot(self) -> Picture:
        """Draw the machine, a row a level.

        Returns
        -------
        Picture
            SVG that a notebook shows and save() writes.
        """
        return levels(self.shape, f"{self.text}: {len(self)} slots")

    def __repr__(self) -> str:
        """One line."""
        return f"<Machine {self.text}: {len(self.nodes)} nodes, {len(self)} slots>"

    def _repr_html_(self) -> str:
        """What notebooks show: the tree as `ranktree topo` prints it."""
        lines = "\n".join(tree_lines(self.tree, self.cost))
        return f"<pre>{escape(lines)}</pre>"
