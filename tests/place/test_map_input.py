"""`ranktree map` and `convert` on patterns without the metric wanted, and on damaged numpy files."""

import io
import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

MACHINE = ("--machine", "node:2 core:2")
MATRIX = np.array([[0, 0, 9, 0], [0, 0, 0, 5], [0, 0, 0, 0], [0, 0, 0, 0]])
ONE_NUMBER = {
    "p.mtx": "%%MatrixMarket matrix coordinate integer general\n4 4 2\n1 3 9\n2 4 5\n",
    "p.mat": "0 0 9 0\n0 0 0 5\n0 0 0 0\n0 0 0 0\n",
    "p.graph": "4 2 001\n3 9\n4 5\n1 9\n2 5\n",
    "p.grf": "0\n4 4\n0 010\n1 9 2\n1 5 3\n1 9 0\n1 5 1\n",
}


def plan_of(ranktree: Callable, path: Path, *options: str) -> dict:
    """What --json prints."""
    result = ranktree("map", "--metric", "size", path, *MACHINE, *options, "--json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def refusal_of(ranktree: Callable, *arguments: object) -> str:
    """The last line of a failure that is no usage error and no traceback."""
    result = ranktree(*arguments, timeout=30)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "Traceback" not in result.stderr
    return result.stderr.splitlines()[-1]


@pytest.mark.parametrize("name", ONE_NUMBER)
def test_the_only_number_is_what_the_metric_counts(ranktree: Callable, tmp_path: Path, name: str) -> None:
    """Bytes or messages; an average is neither, and is refused."""
    path = tmp_path / name
    path.write_text(ONE_NUMBER[name], encoding="ascii")
    by_bytes = plan_of(ranktree, path)
    by_messages = plan_of(ranktree, path, "--metric", "msg")
    assert by_bytes["costs"] == by_messages["costs"]
    assert by_bytes["gain"]
    text = refusal_of(ranktree, "map", path, *MACHINE, "--metric", "avg")
    assert f"{path}: expected numbers of messages, which metric 'avg' counts, found bytes only" in text


def test_a_column_that_is_missing_is_not_zero(ranktree: Callable, tmp_path: Path) -> None:
    """A placement by what is not there would be "no gain"."""
    path = tmp_path / "p.csv"
    path.write_text("# ranks=4\nsrc,dst,messages\n0,2,9\n1,3,5\n", encoding="ascii")
    text = refusal_of(ranktree, "map", "--metric", "size", path, *MACHINE)
    assert text.endswith(
        f"{path}: expected bytes, which metric 'size' counts, found numbers of messages only: place by metric 'msg'"
    )
    assert plan_of(ranktree, path, "--metric", "msg")["gain"]
    path.write_text("# ranks=4\nsrc,dst,bytes\n0,2,9\n1,3,5\n", encoding="ascii")
    assert "place by metric 'size'" in refusal_of(ranktree, "map", path, *MACHINE, "--metric", "msg")
    path.write_text("# ranks=4\nsrc,dst,bytes\n", encoding="ascii")
    assert not plan_of(ranktree, path, "--metric", "msg")["gain"], "who exchanges nothing is placed as ever"


def array_bytes(array: np.ndarray) -> bytes:
    """An .npy file."""
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def with_header(text: str, version: tuple[int, int] = (1, 0)) -> bytes:
    """An .npy file with this header."""
    return b"\x93NUMPY" + bytes(version) + struct.pack("<H", len(text)) + text.encode() + bytes(64)


HEADER = "{{'descr': {}, 'fortran_order': False, 'shape': {}}}\n"
BROKEN = {
    "empty": b"",
    "magic": b"no numpy",
    "cut short": array_bytes(MATRIX)[:-3],
    "header cut short": array_bytes(MATRIX)[:20],
    "objects": array_bytes(MATRIX.astype(object)),
    "version": with_header(HEADER.format("'<f8'", "(2, 2)"), (9, 0)),
    "type": with_header(HEADER.format("'<q99'", "(2, 2)")),
    "no dictionary": with_header("[1, 2]\n"),
    "no grammar": with_header("{'descr': (\n"),
    "shape of truths": with_header(HEADER.format("'<f8'", "(True, False)")),
    "negative shape": with_header(HEADER.format("'<f8'", "(-2, -2)")),
    "more than there is": with_header(HEADER.format("'<f8'", "(1000000, 1000000)")),
    "more than there can be": with_header(HEADER.format("'<f8'", f"({2**70}, {2**70})")),
    "deep": with_header("(" * 9000 + ")" * 9000),
    "no numbers": with_header(HEADER.format("'|V0'", "(4, 4)")),
    "numbers of no bytes": with_header(HEADER.format("'<f0'", "(100000, 100000)")),
    "text": with_header(HEADER.format("'<U1'", "(4, 4)")),
}


WRONG = {
    "empty": "expected a .npy array",
    "magic": "expected a .npy array",
    "cut short": "declares 16 items of 8 bytes, but holds 125 bytes",
    "header cut short": "its header is longer than the array",
    "objects": "expected real numbers or text, found type '|O'",
    "version": "expected .npy version 1, 2 or 3",
    "type": "expected real numbers or text, found type '<q99'",
    "no dictionary": "its header is damaged: expected '{'",
    "no grammar": "in its header",
    "shape of truths": "expected a number in shape",
    "negative shape": "expected a number in shape",
    "more than there is": "declares 1000000000000 items",
    "more than there can be": "expected a number in shape",
    "deep": "its header is",
    "no numbers": "expected real numbers or text, found type '|V0'",
    "numbers of no bytes": "expected numbers of bytes, found type '<f0'",
    "text": "expected real numbers, found type 'U'",
}


@pytest.mark.parametrize("kind", [".npy", ".npz"])
@pytest.mark.parametrize("name", BROKEN)
def test_numpy_files_that_are_none_are_refused(ranktree: Callable, tmp_path: Path, name: str, kind: str) -> None:
    """One line with the file's name, whatever is wrong, and no more memory than the file can hold."""
    path = tmp_path / f"p{kind}"
    if kind == ".npy":
        path.write_bytes(BROKEN[name])
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("a.npy", BROKEN[name])
    for arguments in (("map", "--metric", "size", path, *MACHINE), ("convert", path, "-o", tmp_path / "o.csv")):
        text = refusal_of(ranktree, *arguments)
        assert text.startswith(f"ranktree: {path}: "), text
        assert WRONG[name] in text
    assert not (tmp_path / "o.csv").exists()


def zip_of(data: bytes, method: int = zipfile.ZIP_STORED) -> bytes:
    """A zip file with one member."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("a.npy", data)
    return file.getvalue()


def test_zip_files_that_are_broken_are_refused(ranktree: Callable, tmp_path: Path) -> None:
    """Checksums, methods, encryption, and members with more than their array."""
    stored = zip_of(array_bytes(MATRIX))
    at = stored.index(array_bytes(MATRIX)) + 130
    deflated = zip_of(array_bytes(MATRIX), zipfile.ZIP_DEFLATED)
    packed = zip_of(array_bytes(MATRIX), zipfile.ZIP_BZIP2)
    encrypted = bytearray(stored)
    encrypted[6] |= 1
    encrypted[encrypted.index(b"PK\x01\x02") + 8] |= 1
    cases = {
        "checksum (CRC-32)": stored[:at] + b"\x07" + stored[at + 1 :],
        "array 'a': expected a .npy array": deflated[:40] + b"\xff\xff\xff" + deflated[43:],
        "expected method stored or deflated, found 12": packed,
        "encrypted": bytes(encrypted),
        "but holds 129 bytes": zip_of(array_bytes(MATRIX) + b"\0"),
    }
    for words, data in cases.items():
        path = tmp_path / "p.npz"
        path.write_bytes(data)
        text = refusal_of(ranktree, "map", "--metric", "size", path, *MACHINE)
        assert text.startswith(f"ranktree: {path}: "), text
        assert words in text


def test_numbers_no_pattern_has_are_refused_with_the_files_name(ranktree: Callable, tmp_path: Path) -> None:
    """Which entry, too."""
    path = tmp_path / "p.npy"
    for value, words in (
        (-1, "[0, 2]: expected a finite number, at least 0, found -1"),
        (np.nan, "[0, 2]: expected a finite number, at least 0, found nan"),
        (1e308, ": expected numbers that can be added up"),
    ):
        np.save(path, np.where(MATRIX == 9, value, MATRIX.astype(float)) * np.ones((4, 4)) + (MATRIX == 5) * 1e308)
        assert f"ranktree: {path}{words}" in refusal_of(ranktree, "map", "--metric", "size", path, *MACHINE)
    np.save(path, np.where(MATRIX == 9, -1, MATRIX))
    assert f"ranktree: {path}: entry 0, bytes" in refusal_of(ranktree, "convert", path, "-o", tmp_path / "o.csv")
    for what in ("none.npy", "none.npz", "none.csv"):
        assert what in refusal_of(ranktree, "map", "--metric", "size", tmp_path / what, *MACHINE)
    (tmp_path / "folder.npy").mkdir()
    assert "folder.npy: expected a regular file, found a folder" in refusal_of(
        ranktree, "map", tmp_path / "folder.npy", *MACHINE
    )


def test_what_cannot_be_written_is_refused_before_the_search(ranktree: Callable, tmp_path: Path) -> None:
    """A folder that is not there, or a name that is one."""
    path = tmp_path / "p.mat"
    path.write_text(ONE_NUMBER["p.mat"], encoding="ascii")
    for output, words in ((tmp_path / "none" / "p.json", "no such folder"), (tmp_path, "a folder, not a file")):
        result = ranktree("map", "--metric", "size", path, *MACHINE, "-o", output)
        assert (result.returncode, result.stdout) == (1, "")
        assert words in result.stderr


def test_numbers_beyond_what_the_core_counts_are_usage_errors(ranktree: Callable, tmp_path: Path) -> None:
    """Not tracebacks."""
    path = tmp_path / "p.mat"
    path.write_text(ONE_NUMBER["p.mat"], encoding="ascii")
    for option, value in (
        ("--seed", 2**64),
        ("--threads", 2**31),
        ("--threads-per-rank", 2**31),
        ("--threads", 10**20),
    ):
        result = ranktree("map", "--metric", "size", path, *MACHINE, option, value)
        assert result.returncode == 2, result.stderr
        assert option in result.stderr


def test_a_machine_without_slots_is_refused(ranktree: Callable, tmp_path: Path) -> None:
    """Oversubscription would not help."""
    path = tmp_path / "p.mat"
    path.write_text(ONE_NUMBER["p.mat"], encoding="ascii")
    for options in (("--forbid", "0-1"), ("--threads-per-rank", 3)):
        for shared in ((), ("--oversubscribe",)):
            text = refusal_of(ranktree, "map", "--metric", "size", path, *MACHINE, *options, *shared)
            assert "machine: expected an allowed slot, found none" in text
