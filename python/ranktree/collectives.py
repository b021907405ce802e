"""Collectives of an unmodified program: what `ranktree run --collectives` hands on."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

PLAIN = ("auto", "native")  # understood without the compiled library, which takes a while to load
VARIANTS = (*PLAIN, "messages", "shared", "levels")
STDERR = "stderr"
PATHS = ("RANKTREE_COLL_PARAMETERS", "RANKTREE_COLL_LOG", "RANKTREE_COLL_CACHE")


def is_inline(text: str) -> bool:
    """Whether a text itself has what is wanted; otherwise it names a file of rules."""
    if text in PLAIN:
        return True
    from ranktree import _core  # noqa: PLC0415 - most runs have a plain text

    return _core.is_inline(text)


def wrong_setting(text: str) -> str | None:
    """What is wrong with a text for --collectives; None where nothing is, as far as is known without the ranks."""
    if not entries(text):
        return "--collectives: expected auto, native, a choice, COLLECTIVE=CHOICE;... or a file of rules"
    if text in PLAIN:
        return None
    if not is_inline(text) and not Path(text).is_file():
        return f"--collectives: {text}: no such file, and not one of {', '.join(VARIANTS)}"
    from ranktree import _core  # noqa: PLC0415 - most runs have a plain text

    try:
        _core.check_collectives(text)
    except ValueError as error:
        return f"--collectives: {error}"
    return None


def variant_of(entry: str) -> str:
    """`shared` of `bcast=shared:binomial` and of `shared:binomial`."""
    return entry.partition(":")[0].rpartition("=")[2]


def entries(text: str) -> list[str]:
    """The parts of an inline text."""
    return [word for word in re.split(r"[;\s]+", text) if word]


def cache_folder(environment: Mapping[str, str]) -> Path | None:
    """Where decisions are kept where no folder is named: in the user's cache folder, if there is a user."""
    if environment.get("RANKTREE_COLL_CACHE"):
        return Path(environment["RANKTREE_COLL_CACHE"])
    base = environment.get("XDG_CACHE_HOME") or (environment.get("HOME") and f"{environment['HOME']}/.cache")
    return Path(base) / "ranktree" if base else None


def variables(text: str, log: Path | None, cache: Path | None = None) -> dict[str, str]:
    """The variables that the library reads. A log that is a link is refused: another user may have put it there, and
    the ranks, which append by the name, follow none.
    """
    if log is not None and log.is_symlink():
        raise ValueError(f"--collectives-log: {log}: a symbolic link; expected a file, or '{STDERR}'")
    found = {"RANKTREE_COLL": text} | ({} if log is None else {"RANKTREE_COLL_LOG": str(log)})
    if "auto" in text and (cache is not None or "RANKTREE_COLL_CACHE" in os.environ):
        found["RANKTREE_COLL_CACHE"] = "" if cache is None else str(cache)
    return found | settled(found)


def begin_log(path: Path | None) -> None:
    """An empty file in place of the one before, since every process puts its lines at the end. Devices stay."""
    if path is None or str(path) == STDERR or path.is_char_device() or path.is_fifo():
        return
    from ranktree import _core  # noqa: PLC0415 - most runs have no log

    _core.write_file(str(path), "")


def settled(found: Mapping[str, str]) -> dict[str, str]:
    """Our variables for programs that start in another folder, and without semicolons, which launchers take apart."""
    changed = {name: absolute(found[name]) for name in PATHS if found.get(name) not in {None, "", STDERR}}
    text = found.get("RANKTREE_COLL")
    if text:
        changed["RANKTREE_COLL"] = " ".join(entries(text)) if is_inline(text) else absolute(text)
    return changed


def absolute(path: str) -> str:
    """Links stay as the user wrote them."""
    return os.path.abspath(path)  # noqa: PTH100
