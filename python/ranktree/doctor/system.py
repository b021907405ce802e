"""What the checks look at: files, variables, programs. A test gives another root folder and other variables."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

OK, NOTE, WARNING, PROBLEM = "ok", "note", "warning", "problem"


@dataclass(frozen=True)
class Finding:
    """The result of one check."""

    check: str
    status: str  # ok, note, warning, problem
    found: str
    mend: str = ""


@dataclass(frozen=True)
class System:
    """This machine as a process sees it."""

    root: Path = Path("/")
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    is_root: bool = field(default_factory=lambda: os.geteuid() == 0)

    def text(self, path: str) -> str | None:
        """The content of a small file; None where there is none."""
        try:
            return (self.root / path).read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return None

    def program(self, name: str) -> str | None:
        """Where a program is."""
        return shutil.which(name, path=self.environment.get("PATH"))

    def programs(self) -> list[Path]:
        """Every executable file on PATH, in its order; the first of a name counts."""
        found: dict[str, Path] = {}
        for folder in filter(None, self.environment.get("PATH", "").split(os.pathsep)):
            try:
                paths = sorted(Path(folder).iterdir())
            except OSError:
                continue  # none, or it may not be read: as shells have it
            for path in paths:
                if path.name not in found and os.access(path, os.X_OK) and path.is_file():
                    found[path.name] = path
        return list(found.values())
