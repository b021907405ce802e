"""The document as text for a terminal."""

from collections.abc import Iterator, Sequence
from typing import Any

from ranktree.model import digits_text, seconds_text
from ranktree.report.units import bytes_text, count_text, power_text

SHOWN = 10


def printable(value: Any) -> Any:
    """A part of the document with '?' for each character of its texts that is not printable.

    Texts of a trace are its program's: they must neither break lines nor send commands to the terminal.
    """
    if isinstance(value, str):
        return value if value.isprintable() else "".join(c if c.isprintable() else "?" for c in value)
    if isinstance(value, list):
        return list(map(printable, value))
    if isinstance(value, dict):
        return {printable(name): printable(each) for name, each in value.items()}
    return value


def as_text(document: dict[str, Any]) -> str:
    """Sections in the order of the page, apart by empty lines; what is absent comes last."""
    document = printable(document)
    sections = (
        facts,
        notes,
        levels,
        links,
        limits,
        nodes,
        pairs,
        sizes,
        calls,
        lost,
        tracing,
        decisions,
        runs,
        steps,
        absent,
    )
    parts = [document["verdict"]["sentence"]]
    for section in sections:
        lines = list(section(document))
        if lines:
            parts.append("\n".join(lines))
    return "\n\n".join(parts)


def columns(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A titled table: the first column to the left, the others to the right."""
    table = [header, *rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(header))]
    lines = []
    for first, *others in table:
        cells = [first.ljust(widths[0]), *map(str.rjust, others, widths[1:])]
        lines.append(("  " + "  ".join(cells)).rstrip())
    return [title, *lines]


def facts(document: dict[str, Any]) -> Iterator[str]:
    """What ran and how much it moved."""
    program, traffic = document["program"], document["traffic"]
    yield f"{document['title']}: {program['ranks']:,} ranks" + (
        f", {program['mpi'].split(',')[0]}" if program["mpi"] else ""
    )
    if program["command"]:
        yield f"program: {program['command']}"
    yield (
        f"traffic: {bytes_text(traffic['bytes'])} in {count_text(traffic['messages'])} messages, "
        f"{count_text(traffic['pairs'])} pairs"
    )
    for each in traffic["classes"]:
        yield f"  {each['label']}: {bytes_text(each['bytes'])} in {count_text(each['messages'])} messages"
    if not program["complete"]:
        missing = len(program["missing"])
        nothing = f"; nothing from {missing:,} {'rank' if missing == 1 else 'ranks'}" if missing else ""
        yield f"incomplete: not every rank came through MPI_Finalize{nothing}"


def notes(document: dict[str, Any]) -> Iterator[str]:
    """What a reader has to know to read the figures."""
    for note in document["notes"]:
        yield f"note: {note}"


def levels(document: dict[str, Any]) -> Iterator[str]:
    """One column a placement."""
    table = document["levels"]
    if table is None:
        return
    show = bytes_text if table["metric"] == "size" else count_text
    rows = [
        [kind, *(show(each["weight"][index]) for each in table["placements"])]
        for index, kind in enumerate(table["kinds"])
        if any(each["weight"][index] for each in table["placements"])
    ]
    rows.append([f"cost ({table['cost_unit']})", *(f"{each['total']:,.6g}" for each in table["placements"])])
    header = ["level", *(each["label"] for each in table["placements"])]
    yield from columns(f"{table['unit']} by level of the machine", header, rows)
    if table["bound"] is not None:
        yield f"  lower bound of the cost: {table['bound']:,.6g}"


def links(document: dict[str, Any]) -> Iterator[str]:
    """The most loaded links."""
    names = list(placement_labels(document))
    unit, show = ("bytes", bytes_text) if document["traffic"]["bytes"] else ("messages", count_text)
    rows = [[link["link"], *(show(link[name][unit]) for name in names)] for link in document["links"][:SHOWN]]
    if rows:
        yield from columns(f"most loaded links, {unit}", ["link", *placement_labels(document).values()], rows)


def limits(document: dict[str, Any]) -> Iterator[str]:
    """By placement the resource that limits it, and below what would help."""
    if document["limits"]:
        usual = "usual latencies and bandwidths where the machine gives none"
        yield f"what limits the modelled time, and what would help ({usual})"
    for limit in document["limits"]:
        yield f"  {limit['sentence']}"
        for remedy in limit["would_help"]:
            yield f"    {remedy['sentence']}"


def nodes(document: dict[str, Any]) -> Iterator[str]:
    """The sums over all pairs of nodes."""
    if document["node_traffic"] is None:
        return
    for each in document["node_traffic"]["placements"]:
        label, pairs_of_nodes = placement_labels(document)[each["name"]], each["pairs_of_nodes"]
        yield (
            f"between nodes ({label}): {bytes_text(each['bytes'])} in {count_text(each['messages'])} messages, "
            f"{pairs_of_nodes:,} {'pair' if pairs_of_nodes == 1 else 'pairs'} of nodes"
        )


def pairs(document: dict[str, Any]) -> Iterator[str]:
    """The heaviest pairs and where they meet."""
    kinds = document["machine"]["kinds"] if document["machine"] else []
    keys = [key for key in ("before", "after") if document["top_pairs"] and key in document["top_pairs"][0]]
    rows = [
        [
            f"{row['from']} -> {row['to']}",
            count_text(row["messages"]),
            bytes_text(row["bytes"]),
            *(kinds[row[key]] for key in keys),
        ]
        for row in document["top_pairs"][:SHOWN]
    ]
    if rows:
        header = ["ranks", "messages", "bytes", *(f"meet on, {key}" for key in keys)]
        yield from columns("heaviest pairs", header, rows)


def sizes(document: dict[str, Any]) -> Iterator[str]:
    """The histograms."""
    for each in document["message_sizes"]:
        rows = [
            [power_text(bucket["from"]), count_text(bucket["count"])] for bucket in each["buckets"] if bucket["count"]
        ]
        yield from columns(each["label"], ["from", each["counts"]], rows)


def calls(document: dict[str, Any]) -> Iterator[str]:
    """Messages by call and by communicator, then collective calls by operation and by communicator."""
    rows = [[row["call"], count_text(row["messages"]), bytes_text(row["bytes"])] for row in document["sends"]["calls"]]
    if rows:
        yield from columns("point-to-point messages by call", ["call", "messages", "bytes"], rows)
    rows = [
        [communicator_text(row), count_text(row["messages"]), bytes_text(row["bytes"])]
        for row in document["sends"]["communicators"][:SHOWN]
    ]
    if rows:
        yield from columns("the same by communicator", ["communicator", "messages", "bytes"], rows)
    rows = [[row["operation"], count_text(row["calls"]), bytes_text(row["bytes"])] for row in document["calls"]]
    if rows:
        yield from columns("collective calls, summed over the ranks", ["operation", "calls", "bytes"], rows)
    rows = [
        [communicator_text(row), count_text(row["calls"]), bytes_text(row["bytes"])]
        for row in document["communicators"][:SHOWN]
    ]
    if rows:
        yield from columns("the same by communicator", ["communicator", "calls", "bytes"], rows)


def communicator_text(row: dict[str, Any]) -> str:
    """Its number in the pattern, and its size."""
    return "members not recorded" if row["communicator"] < 0 else f"{row['communicator']} ({row['ranks']} ranks)"


def lost(document: dict[str, Any]) -> Iterator[str]:
    """What is in no pair."""
    for row in document["not_attributed"]:
        yield f"not attributed: {count_text(row['count'])} {row['call']}"


def tracing(document: dict[str, Any]) -> Iterator[str]:
    """What recording took."""
    if document["tracing"] is not None:
        each = document["tracing"]
        yield (
            f"tracing: about {seconds_text(each['seconds_at_the_busiest_rank'])} at the busiest rank, "
            f"{count_text(each['messages_of_the_busiest_rank'])} messages at {each['nanoseconds_a_message']:g} ns"
        )


def decisions(document: dict[str, Any]) -> Iterator[str]:
    """What the collectives chose."""
    for each in document["collective_decisions"]:
        yield each.get("text") or f"{each['where']}: {each['kind']}: {each['choice']}"


def runs(document: dict[str, Any]) -> Iterator[str]:
    """Medians and the comparison."""
    if document["runs"] is None:
        return
    rows = [
        [series["name"], str(len(series["values"])), f"{digits_text(series['median'], 4)} {document['runs']['unit']}"]
        for series in document["runs"]["series"]
    ]
    yield from columns("measured runs", ["command", "runs", "median"], rows)


def steps(document: dict[str, Any]) -> Iterator[str]:
    """Commands to reproduce."""
    yield "to reproduce"
    for each in document["commands"]:
        yield f"  {each['command']}"


def absent(document: dict[str, Any]) -> Iterator[str]:
    """What the inputs do not hold."""
    yield "not in the inputs"
    for line in document["absent"]:
        yield f"  {line}"


def placement_labels(document: dict[str, Any]) -> dict[str, str]:
    """Names of the placements whose slots are known, and what readers call them."""
    placements = document["machine"]["placements"] if document["machine"] else []
    return {each["name"]: each["label"] for each in placements}
