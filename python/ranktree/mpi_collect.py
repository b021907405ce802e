"""Collectives of ranktree/mpi_collect.h for mpi4py: mpi4py's names and arguments behind a communicator.

    Bcast(comm, values, root=0)
    request = Iallreduce(comm, MPI.IN_PLACE, sums)
    request.Wait()

For each collective the blocking call, the nonblocking one (Ibcast) and the persistent one (Bcast_init, with an info
more), which return a Request. All are collective over comm; the persistent ones, and the first blocking call on a
communicator, synchronise. Counts may be beyond 2^31-1, as in ranktree/mpi_collect_large.h. Errors in buffers are
mpi4py's (TypeError, ValueError, BufferError), raised on that rank alone, which then takes no part: others may wait.
Errors of MPI raise mpi4py.MPI.Exception. Other threads run meanwhile.
"""

import contextlib
import ctypes
import inspect
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ranktree.mpi_buffers import COUNT, Message, in_place, is_in_place, listed, numbers_of, simple, vector
from ranktree.mpi_library import HANDLE, INT, MPI, POINTER, IntArgument, check, handle_of, info_handle, library_function

Buffer = object  # mpi4py's buffer specification, see ranktree.mpi_buffers


Described = tuple[tuple[Any, ...], tuple[Any, ...]]  # what to keep, and C's arguments


class Request:
    """An operation in flight, or a persistent one. Its buffers are kept until it is complete, or freed.

    MPI's calls do not progress it; ranktree/mpi_collect.h lists the calls that do. False once there is nothing left to
    complete or to begin. One without a reference is kept while it is in flight, and released when a request is made
    after that; its errors are lost.
    """

    _dropped: deque["Request"] = deque()  # still move data, or are to be freed
    _in_flight = False

    def __init__(self, handle: int | None, kept: object, persistent: bool) -> None:
        """Takes ownership of the C library's request."""
        self._handle = POINTER(handle)
        self._kept = kept
        self._in_flight = not persistent
        self._let_go()

    def __del__(self) -> None:
        """Stays alive while it is in flight, or until it is freed. No thread has a reference from here on."""
        if self._in_flight or self:
            self._dropped.append(self)

    def __bool__(self) -> bool:
        """Whether there is one."""
        return self._handle.value is not None

    def Start(self) -> None:
        """Begin a persistent operation that is not active. Collective over its communicator.

        Raises
        ------
        mpi4py.MPI.Exception
            Where the request is active, or not persistent.
        """
        check(library_function("Start", POINTER)(ctypes.byref(self._handle)), "Start", MPI.COMM_NULL)
        self._in_flight = True

    def Wait(self) -> bool:
        """Return when the operation is complete.

        Returns
        -------
        bool
            True, as mpi4py's does.

        Raises
        ------
        mpi4py.MPI.Exception
            The operation's error.
        """
        return self.Waitall([self])

    def Test(self) -> bool:
        """Return whether the operation is complete; makes progress.

        Returns
        -------
        bool
            Also True for a request that is not active.

        Raises
        ------
        mpi4py.MPI.Exception
            The operation's error.
        """
        done = INT()
        code = library_function("Test", POINTER, POINTER)(ctypes.byref(self._handle), ctypes.byref(done))
        if code != MPI.SUCCESS or done.value:
            self._end()
        check(code, "Test", MPI.COMM_NULL)
        return bool(done.value)

    @classmethod
    def Waitall(cls, requests: Sequence["Request"]) -> bool:
        """Return when all operations are complete, in whatever order they finish.

        Parameters
        ----------
        requests : sequence of Request
            Those that are not active count as complete.

        Returns
        -------
        bool
            True, as mpi4py's does.

        Raises
        ------
        mpi4py.MPI.Exception
            The first error, after all are complete.
        """
        each = list({id(request): request for request in requests}.values())  # one given twice is one
        handles = (POINTER * max(len(each), 1))(*(request._handle.value for request in each))
        code = library_function("Waitall", INT, POINTER)(len(each), handles)
        for request, handle in zip(each, handles, strict=False):
            request._handle.value = handle
            request._end()
        check(code, "Waitall", MPI.COMM_NULL)
        return True

    def Free(self) -> None:
        """Free a persistent request that is not active; a second time does nothing.

        Raises
        ------
        mpi4py.MPI.Exception
            Where the request is active.
        """
        check(library_function("Request_free", POINTER)(ctypes.byref(self._handle)), "Request_free", MPI.COMM_NULL)
        self._end()

    def _end(self) -> None:
        self._in_flight = False
        if not self:
            self._kept = None

    @classmethod
    def _let_go(cls) -> None:
        for _ in range(len(cls._dropped)):
            try:
                request = cls._dropped.popleft()
            except IndexError:  # another thread's
                return
            if request._is_over():
                request._free_quietly()
            else:
                cls._dropped.append(request)

    def _is_over(self) -> bool:
        try:
            return self.Test()
        except MPI.Exception:
            return True

    def _free_quietly(self) -> None:
        with contextlib.suppress(MPI.Exception):
            self.Free()


@dataclass(frozen=True)
class Roles:
    """Which arguments of the calling rank count in a collective with a root, and how many blocks the root has."""

    root: bool  # the root's side counts here
    others: bool  # that of the others does
    blocks: int

    @classmethod
    def of(cls, comm: MPI.Comm, root: int | None = None) -> "Roles":
        """For an intracommunicator, an intercommunicator (whose root group passes MPI.ROOT or MPI.PROC_NULL), none."""
        if comm == MPI.COMM_NULL:
            return cls(False, False, 0)
        if comm.Is_inter():
            return cls(
                root in {None, MPI.ROOT}, root not in {MPI.ROOT, MPI.PROC_NULL}, cast(MPI.Intercomm, comm).remote_size
            )
        return cls(root is None or comm.rank == root, True, comm.size)


def bcast(comm: MPI.Comm, buf: Buffer, root: int = 0) -> Described:
    """The root's buffer to all ranks."""
    at_root = comm != MPI.COMM_NULL and not comm.Is_inter() and comm.rank == root
    unused = comm == MPI.COMM_NULL or root == MPI.PROC_NULL
    moved = Message() if unused else simple(buf, writable=not at_root and root != MPI.ROOT)
    return (moved,), (*moved.block, root)


def barrier(comm: MPI.Comm) -> Described:
    """Returns, or is complete, once all ranks have called it."""
    return (comm,), ()


def sent(spec: Buffer, blocks: int = 1) -> Message:
    """A send buffer that may be MPI.IN_PLACE."""
    return in_place() if is_in_place(spec) else simple(spec, blocks=blocks)


def gather_sides(comm: MPI.Comm, sendbuf: Buffer, root: int) -> tuple[Roles, Message]:
    """Roles and the send side of a gather: in place at the root only."""
    roles = Roles.of(comm, root)
    if not roles.others:
        return roles, Message()
    return roles, sent(sendbuf) if roles.root else simple(sendbuf)


def gather(comm: MPI.Comm, sendbuf: Buffer, recvbuf: Buffer | None, root: int = 0) -> Described:
    """A block of every rank, in rank order, to the root. recvbuf counts at the root only."""
    roles, send = gather_sides(comm, sendbuf, root)
    received = simple(recvbuf, True, roles.blocks) if roles.root else Message()
    return (send, received), (*send.block, *received.block, root)


def gatherv(comm: MPI.Comm, sendbuf: Buffer, recvbuf: Buffer | None, root: int = 0) -> Described:
    """Blocks of different sizes to the root's displacements. recvbuf counts at the root only."""
    roles, send = gather_sides(comm, sendbuf, root)
    received = vector(recvbuf, roles.blocks, True) if roles.root else Message()
    return (send, received), (*send.block, *received.lists, root)


def scatter_sides(comm: MPI.Comm, recvbuf: Buffer, root: int) -> tuple[Roles, Message]:
    """Roles and the receive side of a scatter: in place at the root only."""
    roles = Roles.of(comm, root)
    if not roles.others:
        return roles, Message()
    return roles, in_place() if roles.root and is_in_place(recvbuf) else simple(recvbuf, True)


def scatter(comm: MPI.Comm, sendbuf: Buffer | None, recvbuf: Buffer, root: int = 0) -> Described:
    """A block of the root's for every rank, in rank order. sendbuf counts at the root only."""
    roles, received = scatter_sides(comm, recvbuf, root)
    send = simple(sendbuf, False, roles.blocks) if roles.root else Message()
    return (send, received), (*send.block, *received.block, root)


def scatterv(comm: MPI.Comm, sendbuf: Buffer | None, recvbuf: Buffer, root: int = 0) -> Described:
    """Blocks of different sizes from the root's displacements. sendbuf counts at the root only."""
    roles, received = scatter_sides(comm, recvbuf, root)
    send = vector(sendbuf, roles.blocks) if roles.root else Message()
    return (send, received), (*send.lists, *received.block, root)


def allgather(comm: MPI.Comm, sendbuf: Buffer, recvbuf: Buffer) -> Described:
    """A block of every rank, in rank order, to all."""
    received, send = simple(recvbuf, True, Roles.of(comm).blocks), sent(sendbuf)
    return (send, received), (*send.block, *received.block)


def allgatherv(comm: MPI.Comm, sendbuf: Buffer, recvbuf: Buffer) -> Described:
    """Blocks of different sizes to all, at recvbuf's displacements."""
    received, send = vector(recvbuf, Roles.of(comm).blocks, True), sent(sendbuf)
    return (send, received), (*send.block, *received.lists)


def alltoall(comm: MPI.Comm, sendbuf: Buffer, recvbuf: Buffer) -> Described:
    """Block j of rank i becomes block i of rank j."""
    blocks = Roles.of(comm).blocks
    received, send = simple(recvbuf, True, blocks), sent(sendbuf, blocks)
    return (send, received), (*send.block, *received.block)


def operands(sendbuf: Buffer, recvbuf: Buffer, blocks: int = 1) -> tuple[Message, Message]:
    """Both sides of a reduction: of one datatype, and of one count; sendbuf may be recvbuf, which is in place."""
    if is_in_place(sendbuf):
        return in_place(), simple(recvbuf, True, blocks)
    received, send = simple(recvbuf, True), simple(sendbuf, False, blocks)
    require_alike(send, received, received.count)
    return in_place() if send.address == received.address else send, received


def require_alike(send: Message, received: Message, count: int) -> None:
    """Raises ValueError unless a reduction's sides fit together."""
    if send.datatype != received.datatype:
        raise ValueError("mismatch in send and receive MPI datatypes")
    if send.count != count:
        raise ValueError(f"mismatch in send count {send.count} and receive count {count}")


def reduce(comm: MPI.Comm, sendbuf: Buffer, recvbuf: Buffer | None, op: MPI.Op = MPI.SUM, root: int = 0) -> Described:
    """All operands combined, to the root. recvbuf counts at the root only."""
    roles = Roles.of(comm, root)
    if roles.root and roles.others:
        send, received = operands(sendbuf, recvbuf)
    else:
        send = simple(sendbuf) if roles.others else Message()
        received = simple(recvbuf, True) if roles.root else Message(0, send.count, send.datatype)
    return (send, received), (send.address, *received.block, op, root)


def allreduce(comm: MPI.Comm, sendbuf: Buffer, recvbuf: Buffer, op: MPI.Op = MPI.SUM) -> Described:
    """All operands combined, to all."""
    send, received = operands(sendbuf, recvbuf)
    return (send, received), (send.address, *received.block, op)


def reduce_scatter_block(comm: MPI.Comm, sendbuf: Buffer, recvbuf: Buffer, op: MPI.Op = MPI.SUM) -> Described:
    """All operands combined; block i of the result to rank i."""
    send, received = operands(sendbuf, recvbuf, 0 if comm == MPI.COMM_NULL else comm.size)
    return (send, received), (send.address, *received.block, op)


def reduce_scatter(
    comm: MPI.Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    recvcounts: Sequence[int] | None = None,
    op: MPI.Op = MPI.SUM,
) -> Described:
    """All operands combined; recvcounts[i] elements of the result to rank i. Only a blocking call may leave it out."""
    received = simple(recvbuf, True)
    send = sent(sendbuf)
    if recvcounts is None:
        raise ValueError("expecting recvcounts: found by blocking calls only, neither in place nor between groups")
    counts = listed(recvcounts, comm.size)
    whole = received if is_in_place(sendbuf) else send
    require_alike(whole, received, sum(counts))
    if whole is send and received.count != counts[comm.rank]:
        raise ValueError(f"mismatch in receive count {received.count} and recvcounts[{comm.rank}] {counts[comm.rank]}")
    numbers = numbers_of(counts)
    return (send, received, numbers), (send.address, received.address, numbers, received.datatype, op)


def find_receive_counts(given: dict[str, Any]) -> None:
    """Those of a blocking reduce_scatter where they are left out: one Allgather. Collective."""
    comm = given["comm"]
    if given["recvcounts"] is not None or is_in_place(given["sendbuf"]) or comm == MPI.COMM_NULL or comm.Is_inter():
        return
    own, counts = numbers_of([simple(given["recvbuf"], True).count]), numbers_of([0] * comm.size)
    Allgather(comm, [own, 1, MPI.INT64_T], [counts, 1, MPI.INT64_T])
    given["recvcounts"] = list(counts)


HANDLES = (MPI.Comm, MPI.Datatype, MPI.Op)
# C's parameters, a letter each: a pointer, a count, a handle, an int.
TYPES = {"p": POINTER, "n": COUNT, "h": HANDLE, "r": IntArgument}


def forms(
    name: str,
    parameters: str,
    describe: Callable[..., Described],
    complete: Callable[[dict[str, Any]], None] | None = None,
) -> tuple[Callable[..., None], Callable[..., Request], Callable[..., Request]]:
    """The three calls of a collective: `describe` takes their arguments, and gives what to keep and C's.

    `complete` may communicate to add to the arguments of the blocking one.
    """
    large = "" if name == "Barrier" else "_c"
    types = [TYPES[letter] for letter in parameters] + [HANDLE]
    immediate = f"I{name[0].lower()}{name[1:]}"
    signature = inspect.signature(describe)
    info = inspect.Parameter("info", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=MPI.INFO_NULL)
    with_info = signature.replace(parameters=[*signature.parameters.values(), info], return_annotation=Request)

    def call(c_name: str, more_types: Sequence[Any], given: dict[str, Any], *more: object) -> object:
        kept, values = describe(**given)
        handles = [handle_of(value) if isinstance(value, HANDLES) else value for value in (*values, given["comm"])]
        check(library_function(c_name, *types, *more_types)(*handles, *more), c_name, given["comm"])
        return kept, given

    def blocking(*positional: object, **named: object) -> None:
        given = arguments(signature, positional, named)
        if complete:
            complete(given)
        call(name + large, [], given)

    def nonblocking(*positional: object, **named: object) -> Request:
        made = POINTER()
        given = arguments(signature, positional, named)
        kept = call(immediate + large, [POINTER], given, ctypes.byref(made))
        return Request(made.value, kept, persistent=False)

    def persistent(*positional: object, **named: object) -> Request:
        made = POINTER()
        given = arguments(with_info, positional, named)
        hints = info_handle(given.pop("info"))
        kept = call(f"{name}_init{large}", [HANDLE, POINTER], given, hints, ctypes.byref(made))
        return Request(made.value, kept, persistent=True)

    text = f"MPI_{{}}: {describe.__doc__} Collective over comm"
    describe_as(blocking, name, f"{text}.", signature.replace(return_annotation=None))
    describe_as(nonblocking, immediate, f"{text}; local.", signature.replace(return_annotation=Request))
    describe_as(persistent, f"{name}_init", f"{text}, synchronising; begun by Start().", with_info)
    return blocking, nonblocking, persistent


def arguments(signature: inspect.Signature, positional: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    """The arguments by name, with defaults. TypeError where they do not fit."""
    given = signature.bind(*positional, **named)
    given.apply_defaults()
    return dict(given.arguments)


def describe_as(function: Callable[..., Any], name: str, text: str, signature: inspect.Signature) -> None:
    """Gives a made function what a written one has."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = documentation(text.format(name), signature)
    cast(Any, function).__signature__ = signature


# The parameters of all calls: their types, and what they are.
DESCRIBED = {
    "comm": ("mpi4py.MPI.Comm", "An intracommunicator or intercommunicator."),
    "buf": ("buffer", "The data, sent by the root and received by the others."),
    "sendbuf": ("buffer", "The data to send, as mpi4py takes it, or MPI.IN_PLACE."),
    "recvbuf": ("buffer", "Where to receive, as mpi4py takes it."),
    "root": ("int", "The rank of the root."),
    "op": ("mpi4py.MPI.Op", "The reduction."),
    "recvcounts": ("sequence of int, optional", "Elements of the result for each rank."),
    "info": ("mpi4py.MPI.Info", "Hints for the operation."),
}
RETURNED = """
Returns
-------
Request
    Its buffers must not change until it is complete.
"""
RAISED = """
Raises
------
mpi4py.MPI.Exception
    Where MPI or Ranktree returns an error; its note has the reason.
TypeError, ValueError
    Where a buffer is none, or does not fit.
"""


def documentation(summary: str, signature: inspect.Signature) -> str:
    """A docstring in numpydoc's form."""
    lines = [summary, "", "Parameters", "----------"]
    for name in signature.parameters:
        kind, words = DESCRIBED[name]
        lines += [f"{name} : {kind}", f"    {words}"]
    returned = RETURNED if signature.return_annotation is Request else ""
    return "\n".join(lines) + "\n" + returned + RAISED


Bcast, Ibcast, Bcast_init = forms("Bcast", "pnhr", bcast)
Reduce, Ireduce, Reduce_init = forms("Reduce", "ppnhhr", reduce)
Allreduce, Iallreduce, Allreduce_init = forms("Allreduce", "ppnhh", allreduce)
Barrier, Ibarrier, Barrier_init = forms("Barrier", "", barrier)
Gather, Igather, Gather_init = forms("Gather", "pnhpnhr", gather)
Gatherv, Igatherv, Gatherv_init = forms("Gatherv", "pnhppphr", gatherv)
Scatter, Iscatter, Scatter_init = forms("Scatter", "pnhpnhr", scatter)
Scatterv, Iscatterv, Scatterv_init = forms("Scatterv", "ppphpnhr", scatterv)
Allgather, Iallgather, Allgather_init = forms("Allgather", "pnhpnh", allgather)
Allgatherv, Iallgatherv, Allgatherv_init = forms("Allgatherv", "pnhppph", allgatherv)
Reduce_scatter, Ireduce_scatter, Reduce_scatter_init = forms(
    "Reduce_scatter", "ppphh", reduce_scatter, find_receive_counts
)
Reduce_scatter_block, Ireduce_scatter_block, Reduce_scatter_block_init = forms(
    "Reduce_scatter_block", "ppnhh", reduce_scatter_block
)
Alltoall, Ialltoall, Alltoall_init = forms("Alltoall", "pnhpnh", alltoall)


def Set_reproducible(comm: MPI.Comm, flag: bool = True) -> None:
    """Make the bits of reductions on comm depend on the number of ranks only, from here on. Collective over comm.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
        An intracommunicator.
    flag : bool
        False: the fastest variant may run again.

    Raises
    ------
    mpi4py.MPI.Exception
        Where MPI or Ranktree returns an error; its note has the reason.
    """
    check(
        library_function("Comm_set_reproducible", HANDLE, INT)(handle_of(comm), int(flag)),
        "Comm_set_reproducible",
        comm,
    )
