#!/usr/bin/env python3
"""Lists the C++ files that run from `ranktree map` to a rankfile, as callgrind sees them.

walk.py --build build/dev        16 ranks on four nodes of four cores; one line a file, then their number

The bindings to Python, and what every step uses (files, JSON, threads), are counted apart. A file counts when one of
its functions runs that importing `ranktree._core` does not run. Headers are left out: functions in them are inlined.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PAIRS = "".join(f"{i},{(i + 1) % 16},1,1000\n{i},{(i + 5) % 16},1,{100 + 40 * i}\n" for i in range(16))
PATTERN = f"# ranktree pattern | ranks=16\nsrc,dst,messages,bytes\n{PAIRS}"
MACHINE = (
    '{"format": "ranktree-machine", "version": 1, "shapes": {"node": "core:4"},'
    ' "network": {"hosts": [{"names": "n[0-3]", "shape": "node"}]}}'
)
START = "import sys; sys.path.insert(0, {package!r}); import ranktree._core"
COMMAND = f"{START}; from ranktree.cli.main import main; main()"
SOURCE = re.compile(r"/((?:src/(?:core|io|hw)|python/src)/[a-z_/]+\.cpp)$")
APART = {
    "bindings": re.compile(r"python/src/"),
    "used by every step": re.compile(r"src/core/base/|src/io/(file|json_place)\.cpp"),
}
SECONDS = 600


def functions(profile: Path) -> set[tuple[str, str]]:
    """File and function of each line of a profile that has a cost of its own. Names stand where they occur first."""
    names: dict[tuple[str, str], str] = {}
    file = function = ""
    is_call = False
    found = set()
    for line in profile.read_text(encoding="utf-8", errors="replace").splitlines():
        record = re.match(r"(c?)(fl|fi|fe|fn)=\((\d+)\)\s*(.*)", line)
        if record:
            called, kind, number, name = record.groups()
            key = ("function" if kind == "fn" else "file", number)
            if name:
                names[key] = name
            if not called and kind == "fn":
                function = names[key]
            elif not called:
                file = names[key]
        elif line.startswith("calls="):
            is_call = True  # the next line has the cost of the function called
        elif re.match(r"[+\-*\d]", line):
            source = SOURCE.search(file)
            if source and not is_call:
                found.add((source.group(1), function))
            is_call = False
    return found


def profiled(folder: Path, code: str, arguments: list[str]) -> set[tuple[str, str]]:
    """What a Python program runs."""
    profile = folder / "profile"
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", sys.executable, "-I", "-c", code]
    result = subprocess.run([*command, *arguments], cwd=folder, capture_output=True, timeout=SECONDS, check=False)
    if result.returncode:
        sys.exit(result.stderr.decode(errors="replace"))
    return functions(profile)


def main() -> None:
    """Prints the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    package = str(parser.parse_args().build.absolute() / "python")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "cluster.json").write_text(MACHINE, encoding="utf-8")
        (folder / "app.csv").write_text(PATTERN, encoding="utf-8")
        start, command = START.format(package=package), COMMAND.format(package=package)
        convert = [sys.executable, "-I", "-c", command, "convert", "app.csv", "-o", "app.npz"]
        subprocess.run(convert, cwd=folder, check=True, capture_output=True, timeout=SECONDS)
        ran = profiled(
            folder, command, ["map", "app.npz", "--metric", "size", "--machine", "cluster.json", "-o", "plan.json"]
        )
        ran |= profiled(folder, command, ["emit", "plan.json", "--launcher", "openmpi4"])
        ran -= profiled(folder, start, [])
    rest = sorted({file for file, _ in ran})
    groups = {name: [file for file in rest if pattern.match(file)] for name, pattern in APART.items()}
    steps = [file for file in rest if not any(file in group for group in groups.values())]
    for name, files in {"steps": steps, **groups}.items():
        print(*files, f"{len(files)} files: {name}", sep=os.linesep)


if __name__ == "__main__":
    main()
