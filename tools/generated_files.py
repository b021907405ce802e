"""Writes generated files, or compares them with those that are committed."""

import argparse
from collections.abc import Mapping
from pathlib import Path


def parser_of(text: str | None) -> argparse.ArgumentParser:
    """With --check, for a program described by `text`."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a committed file differs")
    return parser


def write_or_compare(files: Mapping[Path, str], check: bool, generator: str) -> int:
    """The exit code. Each file that differs is printed, with the `generator` to run."""
    if not check:
        for path, text in files.items():
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return 0
    stale = [path for path, text in files.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        print(f"{path}: not what {generator} makes; run it")
    return 1 if stale else 0
