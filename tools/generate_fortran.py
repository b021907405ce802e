#!/usr/bin/env python3
"""Makes the Fortran forms of the collectives, a subroutine for each call and kind of handle, from the prototypes of
include/ranktree/mpi_collect.h: include/ranktree/ranktree_collect_{mpif,f08}.f90.

Usage: generate_fortran.py [--check]. With --check nothing is written; the exit code shows whether the committed files
are what would be made.
"""

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from generated_files import parser_of, write_or_compare

FOLDER = Path(__file__).resolve().parent.parent / "include" / "ranktree"
WIDTH = 120
PROTOTYPE = re.compile(r"RANKTREE_API int (ranktree_\w+)\(([^;]*?)\);")
FORMS = ("blocking", "nonblocking", "persistent")
SAID = {
    "blocking": "!> As {mpi}. Collective over comm.",
    "nonblocking": "!> As {mpi}, to be completed by ranktree_Wait, ranktree_Test, ranktree_Waitall. Collective; local.",
    "persistent": "!> As {mpi}, to be begun by ranktree_Start. Collective over comm, and synchronising.",
}
HANDLES = {"MPI_Datatype": "MPI_Datatype", "MPI_Op": "MPI_Op", "MPI_Comm": "MPI_Comm", "MPI_Info": "MPI_Info"}
# Members of ranktree_collect_call for parameters of other names.
MEMBERS = {
    "buffer": "recvbuf",
    "count": "recvcount",
    "datatype": "recvtype",
    "recvcounts": "counts",
    "sendcounts": "counts",
    "displs": "displacements",
}


@dataclass(frozen=True)
class Parameter:
    """One of C's parameters: its name and what it is."""

    name: str
    kind: str  # sent, received, count, root, list, displacements, request, or a handle's type

    @property
    def member(self) -> str:
        """Where the call's description has it."""
        return MEMBERS.get(self.name, self.name)


@dataclass(frozen=True)
class Call:
    """One of the header's functions."""

    name: str
    form: str
    collective: int
    parameters: tuple[Parameter, ...]

    @property
    def short(self) -> str:
        """The beginning of its procedures' names."""
        return self.name.removeprefix("ranktree_").lower()

    @property
    def has_counts(self) -> bool:
        """Whether it has a form with large counts."""
        return any(parameter.kind in {"count", "list"} for parameter in self.parameters)


@dataclass(frozen=True)
class Kind:
    """How a form of all calls has its handles and counts."""

    suffix: str
    handles: bool  # derived types
    wide: bool  # MPI_COUNT_KIND


INTEGER = Kind("integer", handles=False, wide=False)
F08 = Kind("f08", handles=True, wide=False)
LARGE = Kind("large", handles=True, wide=True)


def parameter_of(text: str) -> Parameter:
    """From C's declaration."""
    name = re.search(r"(\w+)(\[\])?$", text).group(1)
    kind = text.split(maxsplit=1)[0]
    if "void*" in text:
        kind = "sent" if "const" in text else "received"
    elif "[]" in text:
        kind = "displacements" if name == "displs" else "list"
    elif kind == "ranktree_Request*":
        kind = "request"
    elif kind == "int":
        kind = "root" if name == "root" else "count"
    return Parameter(name, kind)


def read_calls(header: str) -> list[Call]:
    """The collectives of the header, those of each form numbered from 0."""
    calls: list[Call] = []
    numbers = dict.fromkeys(FORMS, 0)
    for name, text in PROTOTYPE.findall(header):
        parameters = tuple(parameter_of(" ".join(one.split())) for one in text.split(","))
        if "MPI_Comm" not in {one.kind for one in parameters}:
            continue
        kinds = {one.kind for one in parameters}
        form = "persistent" if "MPI_Info" in kinds else "nonblocking" if "request" in kinds else "blocking"
        calls.append(Call(name, form, numbers[form], parameters))
        numbers[form] += 1
    return calls


def wrapped(indent: int, head: str, items: Sequence[str], tail: str) -> str:
    """A statement, continued where lines are full."""
    lines = [" " * indent + head]
    for number, item in enumerate(items):
        text = item + (", " if number + 1 < len(items) else tail)
        if len(lines[-1]) + len(text.rstrip()) > WIDTH - 2:
            lines[-1] = f"{lines[-1].rstrip()} &"
            lines.append(" " * (indent + 4))
        lines[-1] += text
    return "\n".join(lines) + "\n"


def names(call: Call, *kinds: str) -> list[str]:
    """The parameters of these kinds."""
    return [one.name for one in call.parameters if one.kind in kinds]


def buffers_declared(call: Call) -> str:
    """Of the choice buffers."""
    later = "contiguous" if call.form == "blocking" else "asynchronous"
    text = ""
    for name in names(call, "sent"):
        text += f"    type(*), dimension(..), intent(in), {later}, target :: {name}\n"
    for name in names(call, "received"):
        text += f"    type(*), dimension(..), {later}, target :: {name}\n"
    return text


def numbers_declared(call: Call, kind: Kind) -> str:
    """Of counts, lists and the root, and of handles that are integers."""
    counts = names(call, "count")
    integers = names(call, "root") if kind.wide else [*counts, *names(call, "root")]
    if not kind.handles:
        integers += names(call, *HANDLES)
    text = f"    integer(MPI_COUNT_KIND), intent(in) :: {', '.join(counts)}\n" if kind.wide and counts else ""
    text += f"    integer, intent(in) :: {', '.join(integers)}\n" if integers else ""
    stays = "" if call.form == "blocking" else ", asynchronous"
    for parameter_kind, wide in (("list", "MPI_COUNT_KIND"), ("displacements", "MPI_ADDRESS_KIND")):
        for name in names(call, parameter_kind):
            text += f"    integer{f'({wide})' if kind.wide else ''}, intent(in){stays}, target :: {name}(*)\n"
    return text


def declarations(call: Call, kind: Kind) -> str:
    """Those of the dummy arguments."""
    text = buffers_declared(call) + numbers_declared(call, kind)
    for handle in HANDLES if kind.handles else ():
        if names(call, handle):
            text += f"    type({handle}), intent(in) :: {', '.join(names(call, handle))}\n"
    if call.form != "blocking":
        text += "    type(ranktree_Request), intent(inout) :: request\n"
    return text + "    integer, optional, intent(out) :: ierror\n"


def value(parameter: Parameter, kind: Kind) -> str:
    """What the description of the call gets."""
    if parameter.kind in {"sent", "received", "list", "displacements"}:
        return f"c_loc({parameter.name})"
    if parameter.kind == "count":
        return f"int({parameter.name}, c_int64_t)"
    return f"{parameter.name}%MPI_VAL" if kind.handles and parameter.kind in HANDLES else parameter.name


def described(call: Call, kind: Kind) -> list[str]:
    """The members that are given."""
    members = [f"collective={call.collective}", f"form={FORMS.index(call.form)}"]
    for side, buffer_kind in (("send", "sent"), ("receive", "received")) if call.form != "blocking" else ():
        for name in names(call, buffer_kind):
            members.append(f"contiguous_{side}=flag(is_contiguous({name}))")
    if kind.wide and names(call, "list"):
        members.append("wide=1")
    for one in call.parameters:
        if one.kind != "request":
            members.append(f"{one.member}={value(one, kind)}")
    return members


def subroutine(call: Call, kind: Kind) -> str:
    """One form of one call."""
    name = f"{call.short}_{kind.suffix}"
    dummies = [*(one.name for one in call.parameters), "ierror"]
    request = "" if call.form == "blocking" else "request, "
    return (
        f"  {SAID[call.form].format(mpi=call.name.replace('ranktree', 'MPI'))}\n"
        + wrapped(2, f"subroutine {name}(", dummies, ")")
        + declarations(call, kind)
        + wrapped(4, "call run(ranktree_collect_call(", described(call, kind), f"), {request}ierror=ierror)")
        + f"  end subroutine {name}\n"
    )


def interfaces(calls: Sequence[Call], kinds: Sequence[Kind]) -> str:
    """The generic names."""
    text = ""
    for call in calls:
        forms = [f"{call.short}_{kind.suffix}" for kind in kinds if call.has_counts or not kind.wide]
        text += f"  interface {call.name}\n    module procedure {', '.join(forms)}\n  end interface\n"
    return text


def module(name: str, calls: Sequence[Call], kinds: Sequence[Kind], uses: str, sentinels: str) -> str:
    """A module with these forms of all calls."""
    subroutines = [subroutine(call, kind) for call in calls for kind in kinds if call.has_counts or not kind.wide]
    return f"""module {name}
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_loc
{uses}  use ranktree_reorder_bindings, only: flag
  use ranktree_collect_bindings
  implicit none
  private

{wrapped(2, "public :: ", [call.name for call in calls], "")}
{interfaces(calls, kinds)}
contains

  ! Addresses that mean something are those of the program's kind of handles.
  subroutine run(what, request, ierror)
{sentinels}    type(ranktree_collect_call), intent(in) :: what
    type(ranktree_Request), optional, intent(inout) :: request
    integer, optional, intent(out) :: ierror
    integer(c_int) :: code
    code = c_collect(what, MPI_IN_PLACE, MPI_BOTTOM, request)
    if (present(ierror)) ierror = code
  end subroutine run

{chr(10).join(subroutines)}end module {name}
"""


def generate() -> dict[str, str]:
    """The text of each file by its name."""
    calls = read_calls((FOLDER / "mpi_collect.h").read_text(encoding="utf-8"))
    made = "! Generated by tools/generate_fortran.py from ranktree/mpi_collect.h. Do not edit.\n"
    handles = "  use mpi_f08, only: MPI_ADDRESS_KIND, MPI_BOTTOM, MPI_COUNT_KIND, MPI_IN_PLACE\n"
    handles += f"  use mpi_f08, only: {', '.join(HANDLES)}\n  use ranktree_collect_mpif\n"
    integers = "!> Collectives with integers as handles; the contract is in ranktree/mpi_collect.h.\n"
    derived = "!> Collectives with the handles of mpi_f08, and counts of either kind.\n"
    return {
        "ranktree_collect_mpif.f90": made
        + integers
        + module("ranktree_collect_mpif", calls, [INTEGER], "", "    include 'mpif.h'\n"),
        "ranktree_collect_f08.f90": made + derived + module("ranktree_collect_f08", calls, [F08, LARGE], handles, ""),
    }


def main() -> int:
    """Writes the files, or compares them."""
    options = parser_of(__doc__).parse_args()
    files = {FOLDER / name: text for name, text in generate().items()}
    return write_or_compare(files, options.check, "tools/generate_fortran.py")


if __name__ == "__main__":
    sys.exit(main())
