"""What a simulation found, as text."""

from collections.abc import Iterator
from typing import Any

from rich.table import Table

from ranktree.model import seconds_text
from ranktree.simulate import memory, served


def level_table(report: dict[str, Any]) -> Table:
    """What passed each level, beside the latency and bandwidth that were simulated."""
    table = Table(title="messages by level of the machine")
    for name in ("level", "latency", "bandwidth", "messages", "bytes"):
        table.add_column(name, justify="left" if name == "level" else "right")
    for level in report["levels"][:-1]:
        known = "latency_s" in level
        latency = (seconds_text(level["latency_s"]) if known else "by distance") + mark(level["latency_given"])
        bandwidth = (rate(level["bandwidth_bytes_per_s"]) if known else "by link") + mark(level["bandwidth_given"])
        table.add_row(level["level"], latency, bandwidth, f"{level['messages']:,.0f}", f"{level['bytes']:,.0f}")
    same = report["levels"][-1]
    if same["messages"]:
        table.add_row(f"same {same['level']}", "", "", f"{same['messages']:,.0f}", f"{same['bytes']:,.0f}")
    return table


def rate(bandwidth: float) -> str:
    """`5 GB/s`."""
    return f"{memory.text(bandwidth)}/s"


def mark(given: bool) -> str:
    """Usual values have a star."""
    return "" if given else "*"


def lines(report: dict[str, Any]) -> Iterator[str]:
    """Below the table."""
    if any(not level.get(key, True) for level in report["levels"] for key in ("latency_given", "bandwidth_given")):
        yield "* usual value of an ordinary cluster: the machine file has none"
    link = report["most_loaded_link"]
    if link is not None:
        share = link["busy_s"] / report["simulated_s"] if report["simulated_s"] > 0 else 0
        yield (
            f"Most loaded link: {link['name']}, {memory.text(link['bytes'])} at "
            f"{rate(link['bandwidth_bytes_per_s'])}, busy {share:.0%} of the time"
        )
    if "collectives" in report:
        yield from served.lines(report["collectives"])
    for sent in report.get("replay", []):
        pairs = f"{sent['pairs']:,} {'pair' if sent['pairs'] == 1 else 'pairs'}"
        rounds = "1 round" if sent["rounds"] == 1 else f"{sent['rounds']} rounds"
        yield f"Replay: {pairs} in {rounds} of at most a message a pair, each for {sent['weight']:g} of the program's"
    yield (
        f"Simulated time: {seconds_text(report['simulated_s'])} for {report['ranks']:,} ranks "
        f"(simulation: {report['host_s']:.1f} s, {memory.text(report['host_bytes'])})"
    )
