"""Settings of `ranktree.toml`, which hold where neither a flag nor a variable gives another value.

A table a command, an option a key: `[map]`, then `preset = "strong"`. The file of the current folder may be another
user's: it cannot set what is written, and no file sets what is executed (Option.decides).
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FILE = "ranktree.toml"


def settings_of(verb: str, options: Mapping[str, str]) -> Mapping[str, Any]:
    """The table of a command; `options`: what each decides. ValueError names what no command or option is called."""
    path = find()
    if path is None:
        return {}
    import tomllib  # noqa: PLC0415  only where there is a file

    from ranktree.cli import VERBS  # noqa: PLC0415

    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: {error}") from None
    for name, table in tables.items():
        require_known(path, "a command", name, VERBS)
        if not isinstance(table, dict):
            raise ValueError(f"{path}: {name}: expected a table of options, found {table!r}")
    for name in tables.get(verb, {}):
        require_known(path, f"an option of {verb}", name, options)
        require_settable(path, f"[{verb}] {name}", options[name])
    options_of_verb: dict[str, Any] = tables.get(verb, {})
    return options_of_verb


def find() -> Path | None:
    """The file of the current folder, whose path is relative, else the user's."""
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")  # noqa: PTH111 - there may be no home
    for path in (Path(FILE), Path(home) / "ranktree" / FILE):
        if os.path.isfile(path):  # noqa: PTH113 - false, no error, in a folder that may not be entered
            return path
    return None


def require_settable(path: Path, key: str, decides: str) -> None:
    """Wrong usage where the file may not set an option."""
    from ranktree.cli.options import BadParameter  # noqa: PLC0415  imports this module

    if decides == "executed":
        raise BadParameter(f"{path}: {key}: no file can set what is executed: use the option")
    if decides and not path.is_absolute():
        user = f"~/.config/ranktree/{FILE}"
        raise BadParameter(f"{path}: {key}: a file of the current folder cannot set what is written: use {user}")


def require_known(path: Path, what: str, name: str, known: Mapping[str, Any]) -> None:
    """A name, or the nearest that exists."""
    from ranktree.cli.options import nearest  # noqa: PLC0415  after a mistake only

    if name not in known:
        near = nearest(name, known)
        raise ValueError(f"{path}: '{name}' is not {what}" + (f" ({near})" if near else ""))
