"""`ranktree convert`: patterns from one file format to another."""

import json as json_format
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from ranktree import pattern as patterns
from ranktree.cli.options import Argument, BadParameter, Option, echo

EXAMPLE = "ranktree convert app.npz -o app.mtx"

FORMAT, VERSION = "ranktree-convert", 1
FORMATS = "npz, mtx, mat, metis, scotch, csv, prof"


class Format(StrEnum):
    """Names of the pattern formats."""

    NPZ = "npz"
    MTX = "mtx"
    MAT = "mat"
    METIS = "metis"
    SCOTCH = "scotch"
    CSV = "csv"
    PROF = "prof"


class Metric(StrEnum):
    """What the one number of a format without messages and bytes means."""

    SIZE = "size"
    MSG = "msg"


class Collectives(StrEnum):
    """What becomes of collective calls."""

    MODEL = "model"
    FLAT = "flat"
    NONE = "none"


def collective_model(pattern: patterns.Pattern, choice: Collectives) -> str:
    """The name of the model: the traced MPI's own for `model`."""
    return patterns.natural_model(pattern) if choice is Collectives.MODEL else choice.value


def command(
    source: Annotated[str, Argument(metavar="IN", help="pattern to read; of Open MPI's F.RANK.prof any one, or F")],
    output: Annotated[Path, Option("-o", "--output", decides="written", metavar="OUT", help="file to write")],
    source_format: Annotated[Format | None, Option("--from", help="format of IN (default: by extension)")] = None,
    output_format: Annotated[Format | None, Option("--to", help="format of OUT (default: by extension)")] = None,
    metric: Annotated[
        Metric | None,
        Option(help="bytes or numbers of messages, where a file holds one number a pair (default: size)"),
    ] = None,
    collectives: Annotated[
        Collectives | None,
        Option(
            help="collective calls to pairs: as the traced MPI would send them, flat, or left out "
            "(default: kept in npz, model otherwise)"
        ),
    ] = None,
    json: Annotated[bool, Option("--json", help="print JSON about what was written")] = False,
) -> None:
    """Convert a pattern between file formats: npz, mtx, mat, metis, scotch, csv, prof."""
    to_name = output_format.value if output_format else patterns.pattern_format(str(output))
    if to_name is None:
        raise BadParameter(f"{output}: unknown extension; name the format by --to ({FORMATS})")
    pattern, warnings = patterns.read(source, source_format, metric)
    if collectives is None and to_name != Format.NPZ and pattern.collectives:
        collectives = Collectives.MODEL
    model = None
    if collectives is not None:
        model = collective_model(pattern, collectives)
        if pattern.collectives and to_name != Format.NPZ:
            warnings.append(
                f"{len(pattern.collectives)} kinds of collective calls expanded to pairs by model '{model}'"
            )
        pattern = patterns.expand(pattern, model)
    warnings += patterns.save(str(output), pattern, to_name, metric or Metric.SIZE)
    for warning in warnings:
        print(f"ranktree: warning: {warning}", file=sys.stderr)
    if json:
        written = {"file": str(output), "file_format": str(to_name), "collectives": model, **sums(pattern)}
        echo(json_format.dumps({"format": FORMAT, "version": VERSION, **written, "warnings": warnings}))


def sums(pattern: patterns.Pattern) -> dict[str, int | float]:
    """What a pattern holds."""
    amounts = zip(("messages", "bytes"), pattern.totals, strict=True)
    whole = {name: int(value) if value.is_integer() else value for name, value in amounts}
    return {"ranks": pattern.ranks, "pairs": len(pattern), **whole, "collective_kinds": len(pattern.collectives)}
