"""Point-to-point messages by call, communicator and power of two, against a program whose messages are known."""

import numpy
import pytest
from ranktree import _core

CALLS = ("Send", "Bsend", "Ssend", "Rsend", "Isend", "Ibsend", "Issend", "Irsend", "Sendrecv", "Sendrecv_replace")
CALLS += ("Isendrecv", "Isendrecv_replace", "Send_init", "Bsend_init", "Ssend_init", "Rsend_init", "Psend_init")


@pytest.mark.parametrize("ranks", [2, 3])
def test_messages_are_counted_by_call_size_and_communicator(mpi, ranks, ranktree, tmp_path) -> None:
    """Rank 0 of the reversed communicator never sends, so no rank writes its members down."""
    path = tmp_path / "sizes.npz"
    result = ranktree("trace", "-o", path, "--", *mpi.launch(ranks, mpi.program("trace_sizes")))
    assert result.returncode == 0, result.stderr
    arrays = numpy.load(path)
    world, lost = 0, -1
    found = {
        (int(communicator), CALLS[call], int(bucket)): (int(messages), int(size))
        for communicator, call, bucket, messages, size in zip(
            *(arrays[f"sent_{name}"] for name in ("communicator", "call", "bucket", "messages", "bytes")), strict=True
        )
    }
    assert found == {
        (world, "Send", 0): (2, 0),
        (world, "Send", 1): (3, 3),
        (world, "Ssend", 10): (1, 1023),
        (world, "Ssend", 11): (1, 1024),
        (world, "Send_init", 11): (4, 8000),
        (lost, "Isend", 4): (5, 60),
        (world, "Sendrecv", 4): (ranks, 8 * ranks),
    }
    assert list(arrays["communicator_members"]) == list(range(ranks))
    read = _core.load_pattern(str(path))[0].sent
    assert {(row["communicator"], row["call"], row["bucket"]) for row in read} == {
        (communicator, f"MPI_{call}", bucket) for communicator, call, bucket in found
    }
    _core.save_pattern(str(tmp_path / "again.npz"), _core.load_pattern(str(path))[0])
    assert _core.load_pattern(str(tmp_path / "again.npz"))[0].sent == read
