"""Places that may not be used, as the command line names them: PU numbers, on every host or on one."""

from ranktree import _core

EXPECTED = "--forbid: expected PUs like 0,2-3 or HOST:0,2-3"


def without(tree: _core.Tree, words: list[str]) -> _core.Tree:
    """A copy of the machine in which no place that owns one of these PUs may be used."""
    if not words:
        return tree
    wanted = [parsed(word) for word in words]
    found = [False] * len(wanted)
    allowed = []
    for leaf in range(tree.leaf_count):
        pus, host = set(tree.pus(leaf)), tree.host(leaf)
        hits = [name in (None, host) and not pus.isdisjoint(numbers) for name, numbers in wanted]
        found = [old or new for old, new in zip(found, hits, strict=True)]
        if tree.allowed(leaf) and not any(hits):
            allowed.append(leaf)
    for word, hit in zip(words, found, strict=True):
        if not hit:
            raise ValueError(f"--forbid {word}: the machine has no such PU")
    return tree.with_allowed(allowed)


def parsed(word: str) -> tuple[str | None, set[int]]:
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
    return (host if colon else None), pus
