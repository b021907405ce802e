#!/usr/bin/env python3
"""Runs every check of form: formats, limits, layers, generated code, static analysis. `make lint` calls it.

Usage: lint.py [--build BUILD] [--fix] [--only NAME]. Needs the tools of the `dev` extra of pyproject.toml, and for
clang-tidy a configured build tree (its compile_commands.json).
"""

import argparse
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
SOURCES = (".h", ".hpp", ".cpp", ".c")
GENERATED = ("src/preload/generated/", "include/ranktree/ranktree_collect_")
MAX_LINES = 500


def tracked(*suffixes: str) -> list[str]:
    """Files of the repository with one of the endings, generated code left out."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    ours = [name for name in listing if name.endswith(suffixes) and not name.startswith(GENERATED)]
    return [name for name in ours if (ROOT / name).is_file()]


def run(tool: str, *arguments: str) -> tuple[bool, str]:
    """Runs a tool of the environment; returns its success and everything it printed."""
    result = subprocess.run(
        [str(BIN / tool), *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return result.returncode == 0, result.stdout


def clang_format(fix: bool) -> tuple[bool, str]:
    """C and C++ layout."""
    return run("clang-format", *(["-i"] if fix else ["--dry-run", "-Werror"]), *tracked(*SOURCES))


def gersemi(fix: bool) -> tuple[bool, str]:
    """CMake layout."""
    return run("gersemi", "-q", *(["-i"] if fix else ["--check"]), *tracked("CMakeLists.txt", ".cmake"))


def ruff_check(fix: bool) -> tuple[bool, str]:
    """Python rules."""
    return run("ruff", "check", "-q", *(["--fix"] if fix else []), *tracked(".py"))


def ruff_format(fix: bool) -> tuple[bool, str]:
    """Python layout."""
    return run("ruff", "format", "-q", *([] if fix else ["--check"]), *tracked(".py"))


def lizard(_: bool) -> tuple[bool, str]:
    """Functions: at most 60 lines, complexity 20, 6 parameters (8 in Python, where they have names)."""
    ok_c, text_c = run("lizard", "-w", "-C", "20", "-L", "60", "-a", "6", *tracked(*SOURCES))
    ok_python, text_python = run("lizard", "-w", "-C", "15", "-L", "60", "-a", "15", *tracked(".py"))
    return ok_c and ok_python, text_c + text_python


def file_length(_: bool) -> tuple[bool, str]:
    """Files: at most 500 lines."""
    long = []
    for name in tracked(*SOURCES, ".py", ".f90", ".F90", ".cmake", "CMakeLists.txt", ".sh", ".js", ".css", ".html"):
        lines = (ROOT / name).read_text(encoding="utf-8").count("\n")
        if lines > MAX_LINES:
            long.append(f"{name}: {lines} lines, at most {MAX_LINES}")
    return not long, "\n".join(long)


def layers(_: bool) -> tuple[bool, str]:
    """Which module includes which."""
    return run("python", "tools/check_layers.py")


def generated(_: bool) -> tuple[bool, str]:
    """The committed wrappers and pages are equal to the generators' output."""
    preload = run("python", "tools/generate_preload.py", "--check")
    fortran = run("python", "tools/generate_fortran.py", "--check")
    pages = run("python", "tools/docs/generate.py", "--check")
    return preload[0] and fortran[0] and pages[0], preload[1] + fortran[1] + pages[1]


def pages(_: bool) -> tuple[bool, str]:
    """Links between pages, and the form of decision pages."""
    return run("python", "tools/check_pages.py")


def words(_: bool) -> tuple[bool, str]:
    """Phrases that readers will not search for."""
    return run("python", "tools/check_words.py")


def mypy(_: bool) -> tuple[bool, str]:
    """Python types, strictly."""
    return run("mypy", "--config-file", "pyproject.toml")


def clang_tidy(build: Path) -> tuple[bool, str]:
    """Static analysis of every C++ file of src that the build tree compiles, two at a time; once for all MPIs."""
    database = build / "compile_commands.json"
    if not database.exists():
        return False, f"{database}: not there; configure that build tree first"
    files = {}
    for entry in json.loads(database.read_text(encoding="utf-8")):
        if Path(entry["file"]).is_relative_to(ROOT / "src") and GENERATED[0] not in entry["file"]:
            files.setdefault(str(Path(entry["file"]).relative_to(ROOT)), entry)
    once = build / "clang-tidy"
    once.mkdir(exist_ok=True)
    (once / "compile_commands.json").write_text(json.dumps(list(files.values())), encoding="utf-8")
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda name: run("clang-tidy", "--quiet", "-p", str(once), name), sorted(files)))
    return all(ok for ok, _ in results), "".join(text for ok, text in results if not ok)


CHECKS = (clang_format, gersemi, ruff_check, ruff_format, lizard, file_length, layers, generated, pages, words, mypy)


def printed(name: str, ok: bool, text: str) -> bool:
    """Prints a check's line, and the output of a failed one; whether it is good."""
    print(f"{'ok    ' if ok else 'FAILED'} {name}", flush=True)
    if not ok:
        print(text, flush=True)
    return ok


def main() -> int:
    """Prints one line for each check, and the output of failed ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=ROOT / "build/dev")
    parser.add_argument("--fix", action="store_true", help="let the formatters change the files")
    names = [check.__name__ for check in (*CHECKS, clang_tidy)]
    parser.add_argument("--only", choices=names, help="one check by name")
    options = parser.parse_args()
    chosen = [check for check in CHECKS if options.only in {None, check.__name__}]
    # Two at a time, but for those that change files, and for clang-tidy, which shares out its files itself.
    with ThreadPoolExecutor(1 if options.fix else 2) as pool:
        results = pool.map(lambda check: check(options.fix), chosen)
        good = [printed(check.__name__, *result) for check, result in zip(chosen, results, strict=True)]
    if options.only in {None, clang_tidy.__name__}:
        good.append(printed(clang_tidy.__name__, *clang_tidy(options.build.resolve())))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
