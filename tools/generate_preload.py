#!/usr/bin/env python3
"""Makes the wrappers of src/preload/generated from the MPI standard's table (pympistandard) and src/preload/calls.tsv.

Usage: generate_preload.py                    write the files
       generate_preload.py --check            fail when the committed files are not what would be written
       generate_preload.py --check-header M   fail when the C header M (as it is, or preprocessed) declares an MPI
                                              function that calls.tsv does not classify

calls.tsv gives every C name a class. A call of a class that moves data gets a wrapper with a hook; calls in which an
MPI may call itself (files, communicators, windows) get an empty one, so that what happens inside is not taken for the
program's; the other classes get none. The files world_*.cpp are those of tools/generate_world.py, collect.cpp is of
tools/generate_collect.py.
"""

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import generate_collect
import generate_world
from generated_files import parser_of, write_or_compare

ROOT = Path(__file__).resolve().parent.parent
CALLS = ROOT / "src/preload/calls.tsv"
OUTPUT = ROOT / "src/preload/generated"

# The classes of calls.tsv: the file its wrappers go to, None where there is no wrapper.
FILES = {
    "send": "point_to_point",
    "send-init": "point_to_point",
    "partitioned-send-init": "point_to_point",
    "receive-init": "point_to_point",
    "start": "point_to_point",
    "request-free": "point_to_point",
    "collective": "collective",
    "collective-init": "collective_init",
    "neighbor": "neighbor",
    "neighbor-init": "neighbor",
    "rma": "one_sided",
    "datatype-free": "life",
    "init": "life",
    "session": "life",
    "other-world": "life",
    "communicator": "life",
    "split": "life",
    "window": "life",
    "file": "file",
    "machine": None,  # written by hand: split.cpp
    "finalize": None,  # recording ends in an attribute callback of MPI_COMM_SELF
    "abort": None,  # the parts are on disk already
    "receive": None,  # the sender counts
    "completion": None,
    "control": None,
    "extension": None,
    "no-data": None,
}

# What each base name (no I, no _init, no _c) passes to its hook, in the standard's parameter names.
SEND = "{buf, count, datatype}"
BOTH_SIDES = "{sendbuf, sendcount, sendtype}, {recvbuf, recvcount, recvtype}"
V_LISTS = "{sendbuf, sendcounts, sendtype}, {recvbuf, recvcounts, recvtype}"
HOOKS = {
    "Barrier": "barrier(scene, comm)",
    "Bcast": "bcast(scene, {buffer, count, datatype}, root, comm)",
    "Reduce": "reduce(scene, {sendbuf, count, datatype}, root, comm)",
    "Allreduce": "allreduce(scene, {sendbuf, count, datatype}, comm)",
    "Scan": "scan(scene, {sendbuf, count, datatype}, comm)",
    "Exscan": "exscan(scene, {sendbuf, count, datatype}, comm)",
    "Gather": f"gather(scene, {BOTH_SIDES}, root, comm)",
    "Scatter": f"scatter(scene, {BOTH_SIDES}, root, comm)",
    "Allgather": f"allgather(scene, {BOTH_SIDES}, comm)",
    "Allgatherv": "allgatherv(scene, {sendbuf, sendcount, sendtype}, {recvbuf, recvcounts, recvtype}, comm)",
    "Alltoall": f"alltoall(scene, {BOTH_SIDES}, comm)",
    "Alltoallv": f"alltoallv(scene, {V_LISTS}, comm)",
    "Alltoallw": "alltoallv(scene, {sendbuf, sendcounts, sendtypes}, {recvbuf, recvcounts, recvtypes}, comm)",
    "Gatherv": "gatherv(scene, {sendbuf, sendcount, sendtype}, root, comm)",
    "Scatterv": "scatterv(scene, {recvbuf, recvcount, recvtype}, root, comm)",
    "Reduce_scatter": "reduce_scatter(scene, recvcounts, datatype, comm)",
    "Reduce_scatter_block": "reduce_scatter_block(scene, {sendbuf, recvcount, datatype}, comm)",
    "Neighbor_allgather": "neighbor_same(scene, {sendbuf, sendcount, sendtype}, comm)",
    "Neighbor_allgatherv": "neighbor_same(scene, {sendbuf, sendcount, sendtype}, comm)",
    "Neighbor_alltoall": "neighbor_same(scene, {sendbuf, sendcount, sendtype}, comm)",
    "Neighbor_alltoallv": "neighbor_each(scene, {sendbuf, sendcounts, sendtype}, comm)",
    "Neighbor_alltoallw": "neighbor_each(scene, {sendbuf, sendcounts, sendtypes}, comm)",
    "Put": "put(scene, {origin_addr, origin_count, origin_datatype}, target_rank, win)",
    "Get": "get(scene, {origin_addr, origin_count, origin_datatype}, target_rank, win)",
    "Accumulate": "put(scene, {origin_addr, origin_count, origin_datatype}, target_rank, win)",
    "Get_accumulate": "get_and_put(scene, op, {origin_addr, origin_count, origin_datatype}, "
    "{result_addr, result_count, result_datatype}, {target_rank, win})",
    "Fetch_and_op": "get_and_put(scene, op, {origin_addr, 1, datatype}, {result_addr, 1, datatype}, "
    "{target_rank, win})",
    "Compare_and_swap": "get_and_put(scene, MPI_OP_NULL, {origin_addr, 1, datatype}, {result_addr, 1, datatype}, "
    "{target_rank, win})",
}

# Handles and numbers, which stand in front of a parenthesis in casts.
TYPES = {
    *("MPI_Aint", "MPI_Comm", "MPI_Count", "MPI_Datatype", "MPI_Errhandler", "MPI_File", "MPI_Fint", "MPI_Group"),
    *("MPI_Info", "MPI_Message", "MPI_Offset", "MPI_Op", "MPI_Request", "MPI_Session", "MPI_Win"),
}

HEAD = """// Generated by tools/generate_preload.py from calls.tsv and the standard's table (pympistandard {version}).
// Do not edit.
#include "preload/entries.h"
{includes}"""


# What the wrappers of one file need in addition.
INCLUDES = {"life": '#include "preload/split.h"\n', "point_to_point": '#include "preload/message.h"\n'}


def read_classes() -> dict[str, str]:
    """The class of each C name; every class must be known."""
    rows = [line.split("\t") for line in CALLS.read_text(encoding="utf-8").splitlines()[1:]]
    classes = {row[0]: row[1] for row in rows}
    unknown = sorted(set(classes.values()) - set(FILES))
    if unknown or len(rows) != len(classes):
        sys.exit(f"{CALLS}: unknown classes {unknown} or a name listed twice")
    return classes


def base_name(name: str) -> str:
    """MPI_Ialltoallv_c and MPI_Alltoallv_init_c describe the same data as MPI_Alltoallv; so does Rput as Put."""
    base = name.removeprefix("MPI_").removesuffix("_c").removesuffix("_init")
    if base in HOOKS:
        return base
    if base[0] in "IR" and base[1:].capitalize() in HOOKS:
        return base[1:].capitalize()
    raise KeyError(f"{name}: no hook")


def send_call(name: str) -> str:
    """The enumerator of core::pattern::SendCall: SendCall::kIsendrecvReplace."""
    words = name.removeprefix("MPI_").removesuffix("_c").split("_")
    return "SendCall::k" + "".join(word.capitalize() for word in words)


def before(name: str, kind: str, parameters: list[str]) -> str:
    """What happens before the call is passed on."""
    if kind == "send":
        side = ("sendcount", "sendtype") if "sendcount" in parameters else ("count", "datatype")
        return f"if (call.outermost()) count_send({send_call(name)}, {side[0]}, {side[1]}, dest, comm)"
    if kind in {"collective", "neighbor", "rma"}:
        hook = HOOKS[base_name(name)]
        return f'if (call.outermost()) record("{name}", [&](const Scene& scene) {{ {hook}; }})'
    if name == "MPI_Start":
        return "if (call.outermost()) start_request(*request)"
    if name == "MPI_Startall":
        return "for (int i = 0; call.outermost() && i < count; ++i) start_request(array_of_requests[i])"
    if name == "MPI_Session_finalize":
        return "end_recording(*session)"
    return {
        "request-free": "if (call.outermost()) free_request(*request)",
        "datatype-free": "forget_types()",
        "split": f"if (const auto code = split_by_machine(call, {', '.join(parameters)})) return *code",
        "other-world": f'if (call.outermost()) count_unattributed("{name}")',
    }.get(kind, "")


def after(name: str, kind: str, parameters: list[str]) -> str:
    """What happens once the call has come back with `code`."""
    if kind == "init":
        return "if (code == MPI_SUCCESS) start_recording()"
    if name == "MPI_Session_init":
        return "if (code == MPI_SUCCESS) start_recording(*session)"
    sends = f"send_init(scene, {send_call(name)}"
    hooks = {
        "send-init": f"{sends}, {SEND}, dest, comm)",
        "partitioned-send-init": f"{sends}, {{buf, partitions * count, datatype}}, dest, comm)",
        "receive-init": "(void)scene",
    }
    if kind in {"collective-init", "neighbor-init"}:
        hooks[kind] = HOOKS[base_name(name)]
    if kind not in hooks:
        return ""
    captures = "[]" if kind == "receive-init" else "[&]"
    return (
        "if (call.outermost() && code == MPI_SUCCESS) "
        f'keep("{name}", *request, {captures}(const Scene& scene) {{ {hooks[kind]}; }})'
    )


def prototype(expression: object) -> tuple[str, list[str]]:
    """The parameter list as C text and the parameters' names."""
    text = str(expression)
    return text[text.index("(") + 1 : text.rindex(")")], [parameter.name for parameter in expression.parameters]


def wrapper(expression: object, kind: str) -> str:
    """Both entries of a call, by the macro of preload/entries.h for when its step happens."""
    name, (parameters, names) = expression.name, prototype(expression)
    first, last = before(name, kind, names), after(name, kind, names)
    if first:
        macro, step = "RANKTREE_SEND" if kind == "send" else "RANKTREE_BEFORE", f"{first}, "
    elif last:
        macro, step = "RANKTREE_AFTER", f"{last}, "
    else:
        macro, step = "RANKTREE_ENTRIES", "passed, "
    arguments = "".join(f", {each}" for each in names)
    return f"\n#if RANKTREE_HAS_{name}\n{macro}({name}, {step}({parameters}){arguments})\n#endif\n"


def forms(standard: object) -> Iterator[object]:
    """The C forms of every procedure of the standard, the ordinary one before the one for large counts."""
    for key in sorted(standard.PROCEDURES):
        procedure = standard.PROCEDURES[key]
        if procedure.express.iso_c is None:
            continue
        yield procedure.express.iso_c
        if procedure.has_embiggenment():
            yield procedure.express.embiggen.iso_c


def generate() -> dict[str, str]:
    """The text of every generated file by its name."""
    standard = importlib.import_module("pympistandard")  # here: --check-header works without it
    standard.use_api_version(1, force_bundled=True)
    classes = read_classes()
    tracing: dict[str, str] = {}
    for expression in forms(standard):
        kind = classes.get(expression.name)
        if kind is None:
            sys.exit(f"{CALLS}: {expression.name} of the standard is not classified")
        if (name := FILES[kind]) is not None:
            head = HEAD.format(version=standard.__version__, includes=INCLUDES.get(name, ""))
            tracing[f"{name}.cpp"] = tracing.get(f"{name}.cpp", head) + wrapper(expression, kind)
    world = generate_world.generate(forms(standard), classes, standard.__version__)
    return tracing | world | generate_collect.generate(forms(standard), classes, standard.__version__)


def check_header(path: Path) -> int:
    """Names the MPI functions that the header declares and calls.tsv does not classify."""
    classes = read_classes()
    text = path.read_text(encoding="utf-8", errors="replace")
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", " ", text, flags=re.MULTILINE)  # directives
    declared = set(re.findall(r"\b(MPIX?_[A-Z]\w*)\s*\(", text))
    missing = sorted(name for name in declared if name not in classes and not is_type(name))
    for name in missing:
        print(f"{path}: {name} is not classified in {CALLS.relative_to(ROOT)}")
    if len(declared) < 300:
        print(f"{path}: only {len(declared)} MPI functions found: not an mpi.h?")
        return 1
    print(f"{path}: {len(declared)} MPI functions, {len(missing)} not classified")
    return 1 if missing else 0


def is_type(name: str) -> bool:
    """Names in front of a parenthesis that are types, not functions."""
    return name in TYPES or name.endswith(("_fn", "_function"))


def main() -> int:
    """Writes, or compares with what is there."""
    parser = parser_of(__doc__)
    parser.add_argument("--check-header", type=Path, metavar="MPI_H")
    options = parser.parse_args()
    if options.check_header:
        return check_header(options.check_header)
    files = {OUTPUT / name: text for name, text in generate().items()}
    stale = sorted(set(OUTPUT.glob("*.cpp")) - set(files))
    for path in stale:
        if options.check:
            print(f"{path}: tools/generate_preload.py makes no such file")
        else:
            path.unlink()
    different = write_or_compare(files, options.check, "tools/generate_preload.py")
    return 1 if options.check and stale else different


if __name__ == "__main__":
    sys.exit(main())
