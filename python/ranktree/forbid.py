"""Places that may not be used, as the command line names them: PU numbers, on every host or on one."""

from ranktree import _core

EXPECTED = "--forbid: expected PUs like 0,2-3 or HOST:0,2-3"


def without(tree: _core.Tree, words: list[str]) -> _core.Tree:
    """A copy of the machine in which no place that owns one of these PUs may be used."""
    wanted = [(word, *parsed(word)) for word in words]
    for word, host, pus in wanted:
        try:
            tree = tree.forbid(host, pus)
        except ValueError as error:
            raise ValueError(f"--forbid {word}: {error}") from error
    return tree


def parsed(word: str) -> tuple[str | None, list[int]]:
    """(host or None, PUs)."""
    host, colon, numbers = word.rpartition(":")
    pus: set[int] = set()
    for part in numbers.split(","):
        first, dash, last = part.partition("-")
        if not (first.isdecimal() and (last.isdecimal() or not dash)):
            raise ValueError(f"{EXPECTED}, found '{word}'")
        low, high = int(first), int(last or first)
        if high < low or high > 1048575:
            raise ValueError(f"{EXPECTED}, ascending and at most 1048575, found '{word}'")
        pus.update(range(low, high + 1))
    return (host if colon else None), sorted(pus)
