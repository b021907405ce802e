"""Launchers' files on disk."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

MARK = ".ranktree-files"
Files = Iterable[tuple[str, str, bool]]  # name, content, executable


def write_files(folder: Path, files: Files, force: bool) -> list[Path]:
    """Writes every file or none; existing ones are replaced only with `force`."""
    files = list(files)
    folder.mkdir(parents=True, exist_ok=True)
    if not force:
        for name, _, _ in files:
            if os.path.lexists(folder / name):
                raise ValueError(f"{folder / name}: exists already; --force replaces it")
    temporary: list[tuple[Path, Path]] = []
    try:
        for name, content, executable in files:
            path = folder / f"{name}.{os.getpid()}.tmp"
            temporary.append((path, folder / name))
            # Never through a link that another user has put there; words of the program may be any bytes.
            with path.open("x", encoding="utf-8", errors="surrogateescape") as file:
                file.write(content)
            if executable:
                path.chmod(path.stat().st_mode | 0o111 & ~current_umask())
        for path, final in temporary:
            path.replace(final)
    finally:
        for path, _ in temporary:
            path.unlink(missing_ok=True)
    return [final for _, final in temporary]


def is_text(path: Path, content: str | None) -> bool:
    """Whether a file holds this text."""
    return content is not None and path.is_file() and path.read_bytes() == content.encode(errors="surrogateescape")


def claim(folder: Path, files: Mapping[str, str | None]) -> None:
    """Makes the folder and lists files in it as ranktree's. ValueError where another file is there.

    `files`: names with what will be written, which may be there already; None where that is not known. Links are
    replaced, not followed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    mark = folder / MARK
    known = mark.read_text(encoding="utf-8").splitlines() if mark.is_file() else []
    for name, content in files.items():
        path = folder / name
        if name in known or path.is_symlink() or not path.exists() or is_text(path, content):
            continue
        raise ValueError(f"{path}: exists already, and no `ranktree run --folder` wrote it: name another one")
    if not set(files) <= set(known):
        listed = "".join(f"{name}\n" for name in sorted({*known, *files}))
        write_files(folder, [(MARK, listed, False)], force=True)


def current_umask() -> int:
    """The process's umask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
