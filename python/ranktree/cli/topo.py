"""`ranktree topo`: the machine as a tree."""

import json as json_format
from typing import Annotated, Any

from ranktree import _core
from ranktree.cli.options import Argument, BadParameter, Option
from ranktree.machine_text import tree_lines

EXAMPLE = 'ranktree topo "switch:2 node:4 package:2 l3:1 core:4"'


def as_dictionary(tree: _core.Tree, number: int = 0) -> dict[str, Any]:
    """An object and everything below it, for `--json`."""
    about = tree.describe(number)
    result: dict[str, Any] = {"kind": about["kind"]}
    if about["name"]:
        result["name"] = about["name"]
    if about["os_index"] >= 0:
        result["os_index"] = about["os_index"]
    if about["children"]:
        first = about["first_child"]
        result["children"] = [as_dictionary(tree, first + i) for i in range(about["children"])]
        return result
    leaf = about["first_leaf"]
    return {**result, "leaf": leaf, "pus": tree.pus(leaf), "allowed": tree.allowed(leaf)}


def command(  # noqa: PLR0913, PLR0917  every option is one parameter
    machine: Annotated[
        str, Argument(help="live, hwloc XML paths joined by commas, a JSON machine file, or a description")
    ] = "live",
    network: Annotated[
        str | None,
        Option(help="a file of switches (docs/reference/formats/network.md): its hosts, each such a machine"),
    ] = None,
    json: Annotated[bool, Option("--json", help="print JSON")] = False,
    cost: Annotated[str, Option(help="hops, latency or bandwidth")] = "hops",
    output: Annotated[str | None, Option("-o", "--output", decides="written", help="write a JSON machine file")] = None,
) -> None:
    """Show a machine as a tree, with the cost of each level and the places this process may not use marked."""
    if cost not in ("hops", "latency", "bandwidth"):
        raise BadParameter(f"expected hops, latency or bandwidth, found '{cost}'", param_hint="--cost")
    tree = _core.load_machine(machine, network).with_metric(cost)
    if output is not None:
        _core.save_machine(output, tree)
    if json:
        levels = [{"kind": kind, "cost": value} for kind, value in zip(tree.levels, tree.costs, strict=True)]
        document = {"format": "ranktree-topo", "version": 1, "cost": cost}
        print(json_format.dumps(document | {"levels": levels, "tree": as_dictionary(tree)}, indent=1))
        return
    print("\n".join(tree_lines(tree, cost)))
