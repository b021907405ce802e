"""Every collective of ranktree.mpi, blocking, nonblocking and persistent, against mpi4py's own on the same numbers;
buffer specifications; errors; requests. Prints ok.
"""

import gc
import sys
import threading
import time
import weakref

import numpy as np
import ranktree.mpi as ours
from mpi4py import MPI

WORLD = MPI.COMM_WORLD.Dup()
SIZE, RANK = WORLD.size, WORLD.rank
BLOCK = 11
COUNTS = [5 * i % 7 for i in range(1, SIZE + 1)]
DISPLACEMENTS = [sum(COUNTS[:i]) + i for i in range(SIZE)]
TOTAL = max(BLOCK * SIZE, sum(COUNTS) + SIZE)
FORMS = ("{}", "I{}", "{}_init")


def expect(holds: bool, what: object) -> None:
    """Ends the run unless it holds."""
    if not holds:
        print(f"rank {RANK}: expected {what}", file=sys.stderr, flush=True)
        MPI.COMM_WORLD.Abort(1)


def expect_error(kind: type, what: object, function, *arguments) -> None:
    """The call raises this exception; MPI's has this class."""
    try:
        function(*arguments)
    except MPI.Exception as error:
        expect(kind is MPI.Exception and error.Get_error_class() == what, f"class {what}, found {error}")
    except (TypeError, ValueError, BufferError) as error:
        expect(isinstance(error, kind) and what in str(error), f"'{what}', found {error!r}")
    else:
        expect(False, f"an error from {function.__name__}: {what}")


def name_of(form: str, name: str) -> str:
    """mpi4py's name of a form."""
    return form.format(name.lower() if form.startswith("I") else name)


def compare(name: str, make_arguments, starts: int = 2, forms: tuple = FORMS) -> None:
    """All forms of a collective give what mpi4py's blocking call gives."""
    expected = np.full(TOTAL, -7 - RANK)
    getattr(WORLD, name)(*make_arguments(expected))
    for form in forms:
        found = np.full(TOTAL, -7 - RANK)
        request = getattr(ours, name_of(form, name))(WORLD, *make_arguments(found))
        if form == FORMS[0]:
            expect(request is None, "nothing from a blocking call")
        else:
            finish(request, starts if form == FORMS[2] else 0)
        expect((found == expected).all(), f"{expected} from {name_of(form, name)}, found {found}")


def finish(request: ours.Request, starts: int) -> None:
    """Completes it; a persistent one so often, a nonblocking one has none."""
    expect(bool(request), "a request")
    for _ in range(max(starts, 1)):
        if starts:
            request.Start()
        expect(request.Wait(), "True")
    expect(bool(request) == bool(starts), "no request left")
    request.Free()
    expect(not request, "a freed request")


def given(count: int = TOTAL) -> np.ndarray:
    """What this rank sends."""
    return np.arange(count) + 1000 * RANK


def check_collectives(root: int) -> None:
    """Arrays of which a part is given."""
    own = COUNTS[RANK]

    def block(into: np.ndarray) -> list:
        return [into, BLOCK, MPI.LONG]

    def lists(into: np.ndarray) -> list:
        return [into, COUNTS, DISPLACEMENTS, MPI.LONG]

    def broadcast(into: np.ndarray) -> tuple:
        into[:] = given() if root == RANK else into
        return block(into), root

    compare("Bcast", broadcast)
    compare("Barrier", lambda _: ())
    compare("Reduce", lambda into: (block(given()), block(into), MPI.MAX, root))
    compare("Allreduce", lambda into: (block(given()), block(into)))
    compare("Gather", lambda into: (block(given()), block(into) if root == RANK else None, root))
    compare("Scatter", lambda into: (block(given()) if root == RANK else None, block(into), root))
    compare("Allgather", lambda into: (block(given()), block(into)))
    compare("Alltoall", lambda into: (block(given()), block(into)))
    compare("Gatherv", lambda into: (given(own), lists(into) if root == RANK else None, root))
    compare("Scatterv", lambda into: (lists(given()) if root == RANK else None, into[:own], root))
    compare("Allgatherv", lambda into: (given(own), lists(into)))
    compare("Reduce_scatter", lambda into: (given(sum(COUNTS)), into[:own], COUNTS, MPI.SUM))
    compare("Reduce_scatter", lambda into: (given(sum(COUNTS)), into[:own]), forms=FORMS[:1])
    compare("Reduce_scatter_block", lambda into: (given(BLOCK * SIZE), block(into), MPI.MIN))


def check_specifications() -> None:
    """Whole arrays, counts that are found, places in arrays, typecodes, in place, addresses."""
    whole = BLOCK * SIZE
    compare("Allgather", lambda into: (given(BLOCK), into[:whole]))
    compare("Alltoall", lambda into: (given(whole), into[:whole]))
    compare("Allgather", lambda into: ([given(), (2, 3), "l"], [into, 2, MPI.LONG]))
    compare("Gatherv", lambda into: (given(BLOCK), [into, (BLOCK, None)] if RANK == 0 else None))
    compare("Allgatherv", lambda into: ([given(), 1, 4, MPI.LONG], [into, (1, 3), MPI.LONG]))

    def in_place(into: np.ndarray) -> tuple:
        into[:] = given()
        return MPI.IN_PLACE, into

    compare("Allreduce", in_place, starts=1)
    compare("Allgather", lambda into: (in_place(into)[0], [into, BLOCK, MPI.LONG]))
    compare("Reduce_scatter", lambda into: (given(sum(COUNTS)), into[: COUNTS[RANK]], np.array(COUNTS)))
    complex_sum = np.zeros((2, 2), order="F", dtype=complex)
    ours.Allreduce(WORLD, np.full((2, 2), 1 + 2j, order="F"), complex_sum)
    expect((complex_sum == SIZE * (1 + 2j)).all(), "complex numbers in Fortran's order")
    text = bytearray(b"right" if RANK == 0 else b"wrong")
    ours.Bcast(WORLD, text)
    expect(text == b"right", "a bytearray")
    number = np.array([RANK])
    absolute = MPI.LONG.Create_hindexed([1], [MPI.Get_address(number)]).Commit()
    ours.Bcast(WORLD, [MPI.BOTTOM, 1, absolute], SIZE - 1)
    absolute.Free()
    expect(number[0] == SIZE - 1, "a number by its address")


def check_operation() -> None:
    """An operation of Python that does not commute, from inside a call."""

    def last(first, second, _):
        numbers = np.frombuffer(second, dtype=np.int64)
        expect((np.frombuffer(first, dtype=np.int64) < numbers).all(), "operands in rank order")

    operation = MPI.Op.Create(last, commute=False)
    compare("Allreduce", lambda into: ([given(), BLOCK, MPI.LONG], [into, BLOCK, MPI.LONG], operation))
    operation.Free()


class Kept(np.ndarray):
    """An array that can be watched."""


def check_requests() -> None:
    """Several at once; Test; requests without a reference keep their buffers while they are in flight, no longer."""
    sums = [np.zeros(1, dtype=int) for _ in range(3)]
    requests = [ours.Iallreduce(WORLD, np.array([RANK + i]), each) for i, each in enumerate(sums)]
    ours.Request.Waitall(requests)
    expected = [SIZE * (SIZE - 1) // 2 + i * SIZE for i in range(3)]
    expect([each[0] for each in sums] == expected and not any(requests), "three sums")
    one = ours.Iallreduce(WORLD, np.array([RANK]), sums[0])
    expect(ours.Request.Waitall([one, one]) and not one, "a request given twice")
    dropped = ours.Allreduce_init(WORLD, np.array([RANK]), sums[0])
    kept = weakref.ref(dropped)
    del dropped
    ours.Ibarrier(WORLD).Wait()
    expect(kept() is None, "a persistent request without a reference is freed")
    request = ours.Ibarrier(WORLD)
    while not request.Test():
        pass
    expect(not request and request.Test(), "a complete request")
    persistent = ours.Bcast_init(WORLD, bytearray(8), 0, MPI.INFO_NULL)
    persistent.Start()
    expect_error(MPI.Exception, MPI.ERR_REQUEST, persistent.Start)
    persistent.Wait()
    expect_error(MPI.Exception, MPI.ERR_REQUEST, ours.Request.Start, request)
    persistent.Free()
    kept = [np.ones(4).view(Kept) for _ in range(3)]
    watched = [weakref.ref(each) for each in kept]
    ours.Iallreduce(WORLD, MPI.IN_PLACE, kept[0])
    expect(len(ours.Request._dropped) == 1, "a dropped request that is kept")
    again = ours.Allreduce_init(WORLD, MPI.IN_PLACE, kept[1])
    again.Start()
    request = ours.Iallreduce(WORLD, MPI.IN_PLACE, kept[2])
    del kept, again
    gc.collect()
    expect(len(ours.Request._dropped) > 0 and request, "a dropped persistent request that is kept")
    ours.Barrier(WORLD)
    request.Wait()
    for _ in range(2000):
        ours.Ibarrier(WORLD).Wait()
        if not ours.Request._dropped:
            break
    expect(not any(each() is not None for each in watched), "buffers that are let go")


def check_other_threads() -> None:
    """They run while a call waits."""
    turns, stop = [0], threading.Event()

    def count() -> None:
        while not stop.is_set():
            turns[0] += 1
            time.sleep(0.001)

    WORLD.Barrier()
    thread = threading.Thread(target=count)
    thread.start()
    if RANK == 0:
        time.sleep(0.2)
    before = turns[0]
    ours.Barrier(WORLD)
    expect(RANK == 0 or turns[0] > before, "turns of another thread")
    stop.set()
    thread.join()


def check_reduce_scatter_between(inter: MPI.Intercomm) -> None:
    """Each group's result, the other's sum, is spread over the group by its own counts."""
    total = 12
    counts = [total - (inter.size - 1), *[1] * (inter.size - 1)]
    send = np.arange(total) * (1 + RANK % 2)
    factor = inter.remote_size * (2 - RANK % 2)
    expected = (np.arange(total) * factor)[sum(counts[: inter.rank]) :][: counts[inter.rank]]
    for form in FORMS:
        found = np.zeros(counts[inter.rank], dtype=int)
        call = getattr(ours, name_of(form, "Reduce_scatter"))
        request = call(inter, send, found, counts)
        if request is not None:
            finish(request, int(form == FORMS[2]))
        expect((found == expected).all(), f"{expected} from {call.__name__} between groups, found {found}")
        expect_error(ValueError, "recvcounts", call, inter, send, found)


def check_orders() -> None:
    """A rank has more requests in flight than another rank that waits already."""
    total, found = np.array([RANK]), np.zeros(COUNTS[RANK], dtype=int)
    first = ours.Iallreduce(WORLD, MPI.IN_PLACE, total)
    if RANK > 0:
        first.Wait()
    second = ours.Ireduce_scatter(WORLD, np.ones(sum(COUNTS), dtype=int), found, COUNTS)
    if RANK == 0:
        first.Wait()
    second.Wait()
    expect(total[0] == SIZE * (SIZE - 1) // 2 and (found == SIZE).all(), "sums in another order of waiting")
    send = np.ones(sum(COUNTS), dtype=int)
    first = ours.Iallreduce(WORLD, MPI.IN_PLACE, total)
    for call in (ours.Ireduce_scatter, ours.Reduce_scatter_init):
        expect_error(ValueError, "recvcounts", call, WORLD, send, found)
    first.Wait()
    expect_error(ValueError, "recvcounts", ours.Reduce_scatter, WORLD, MPI.IN_PLACE, send)


def check_between_groups() -> None:
    """Intercommunicators, of groups of different sizes, and a communicator of one rank."""
    half = WORLD.Split(RANK % 2)
    inter = half.Create_intercomm(0, WORLD, 1 - RANK % 2)
    root = (MPI.ROOT if half.rank == 0 else MPI.PROC_NULL) if RANK % 2 == 0 else 0
    results = []
    for module in (inter, ours):
        before = () if module is inter else (inter,)
        gathered = np.zeros(2 * inter.remote_size, dtype=int)
        module.Allgather(*before, np.array([RANK, 7]), gathered)
        summed, spread = np.zeros(2, dtype=int), np.array([RANK])
        module.Allreduce(*before, np.array([RANK, 1]), summed)
        module.Bcast(*before, spread, root)
        rooted = np.zeros(inter.remote_size, dtype=int)
        module.Gather(*before, np.array([RANK]), rooted, root)
        results.append([*gathered, *summed, *spread, *rooted])
    check_reduce_scatter_between(inter)
    expect(results[0] == results[1], f"{results[0]} between groups, found {results[1]}")
    inter.Free()
    half.Free()
    alone = np.zeros(2)
    request = ours.Allreduce_init(MPI.COMM_SELF, np.ones(2), alone)
    request.Start()
    request.Wait()
    request.Free()
    expect((alone == 1).all(), "the own operand of one rank")


def check_errors() -> None:
    """mpi4py's for buffers, MPI's with their class."""
    numbers = np.zeros(4)
    expect_error(TypeError, "expecting buffer", ours.Bcast, WORLD, 3)
    expect_error(ValueError, "2 to 4 items", ours.Bcast, WORLD, [numbers])
    expect_error(ValueError, "negative count", ours.Bcast, WORLD, [numbers, -1, MPI.DOUBLE])
    expect_error(ValueError, "mismatch in send", ours.Allreduce, WORLD, numbers, np.zeros(3))
    expect_error(ValueError, "datatypes", ours.Allreduce, WORLD, numbers, np.zeros(4, dtype="f"))
    expect_error(ValueError, "blocks", ours.Allgather, WORLD, numbers, np.zeros(4 * SIZE + 1))
    expect_error(BufferError, "", ours.Allgather, WORLD, numbers, bytes(32 * SIZE))
    expect_error(BufferError, "byte order", ours.Bcast, WORLD, np.zeros(4, dtype=">f8"))
    expect_error(TypeError, "", ours.Bcast, WORLD)
    expect_error(MPI.Exception, MPI.ERR_ROOT, ours.Bcast, WORLD, numbers, SIZE)
    expect_error(MPI.Exception, MPI.ERR_ROOT, ours.Ibcast, WORLD, numbers, SIZE)
    expect_error(MPI.Exception, MPI.ERR_OP, ours.Allreduce, WORLD, numbers, np.zeros(4), MPI.OP_NULL)
    expect_error(MPI.Exception, MPI.ERR_COMM, ours.Barrier, MPI.COMM_NULL)


for _ in range(2):  # before there is something kept with the communicator, and after
    for rank in range(SIZE):
        check_collectives(rank)
check_specifications()
check_operation()
check_requests()
check_other_threads()
check_between_groups()
check_orders()
check_errors()
ours.Set_reproducible(WORLD)
check_collectives(0)
expect("root" in str(ours.Gather.__signature__) and ours.Igather.__name__ == "Igather", "a signature")
WORLD.Free()
if RANK == 0:
    print("ok")
