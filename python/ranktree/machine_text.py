"""A machine tree as text: like siblings on one line, what may not be used marked."""

from collections.abc import Iterator

from ranktree import _core

UNITS = {"hops": "hops", "latency": "s", "bandwidth": "s/byte"}

Shape = tuple[object, ...]


class Printer:
    """Groups consecutive siblings that look the same all the way down."""

    def __init__(self, tree: _core.Tree) -> None:
        """Describes every object once, from the leaves up, so that equal shapes are equal tuples."""
        self.tree = tree
        self.about = [tree.describe(number) for number in range(tree.object_count)]
        self.known: dict[Shape, int] = {}
        self.shape = [0] * len(self.about)
        for number in range(len(self.about) - 1, -1, -1):
            self.shape[number] = self.shape_of(number)

    def children(self, number: int) -> range:
        """The children of an object."""
        about = self.about[number]
        return range(about["first_child"], about["first_child"] + about["children"])

    def shape_of(self, number: int) -> int:
        """A number that objects share when everything below them looks the same."""
        about = self.about[number]
        below: Shape = tuple(self.shape[child] for child in self.children(number))
        if not below:
            leaf = about["first_leaf"]
            below = ("leaf", self.tree.allowed(leaf), len(self.tree.pus(leaf)))
        return self.known.setdefault((about["kind"], *below), len(self.known))

    def label(self, first: int, last: int) -> str:
        """One line for the objects first..last, which look the same."""
        about, end, count = self.about[first], self.about[last], last - first + 1
        text = about["kind"] if count == 1 else f"{about['kind']} x{count}"
        if about["name"]:
            text += f" {about['name']}" + (f" .. {end['name']}" if count > 1 else "")
        elif about["os_index"] >= 0 and count == 1:
            text += f" {about['os_index']}"
        elif about["os_index"] >= 0:
            text += f" {about['os_index']} .. {end['os_index']}"
        if about["children"] == 0:
            text += self.leaf_marks(about["first_leaf"], count)
        return text

    def leaf_marks(self, leaf: int, count: int) -> str:
        """What a leaf owns beyond its own number, and whether it may be used."""
        pus = self.tree.pus(leaf)
        text = f" ({len(pus)} PUs{' each' if count > 1 else ''})" if len(pus) > 1 else ""
        return text if self.tree.allowed(leaf) else text + "  [may not be used]"

    def lines(self, number: int, depth: int = 0) -> Iterator[str]:
        """The objects below one, run by run of equal siblings; each run is shown by its first."""
        siblings = list(self.children(number))
        while siblings:
            same = 1
            while same < len(siblings) and self.shape[siblings[same]] == self.shape[siblings[0]]:
                same += 1
            yield "  " * depth + self.label(siblings[0], siblings[same - 1])
            yield from self.lines(siblings[0], depth + 1)
            siblings = siblings[same:]


def tree_lines(tree: _core.Tree, cost: str) -> list[str]:
    """The tree, then the cost between two slots by the level of their lowest common ancestor."""
    printer = Printer(tree)
    usable = sum(tree.allowed(leaf) for leaf in range(tree.leaf_count))
    lines = [printer.label(0, 0), *printer.lines(0, 1), ""]
    lines.append(f"{tree.leaf_count} places, {usable} may be used")
    above = list(zip(tree.levels, tree.costs, strict=True))[:-1]
    width = max((len(kind) for kind, _ in above), default=0)
    lines += [f"common ancestor {kind:{width}}  {value:g} {UNITS[cost]}" for kind, value in above]
    if tree.network is not None:
        lines[lines.index("") + 2] += " between the nearest nodes"
        lines.append(f"network: {tree.network}")
    return lines
