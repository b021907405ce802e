"""Long work on a terminal: a progress bar."""

import sys
import threading
import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

PATIENCE = 1.0  # seconds without a progress bar
REFRESH = 0.1


class LongWork:
    """Within its `with`: after a second a progress bar on stderr, if that is a terminal."""

    def __init__(self, description: str, limit: float | None = None) -> None:
        """What is done, and for how many seconds at most."""
        self.description = description
        self.limit = limit
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._show, daemon=True) if sys.stderr.isatty() else None

    def __enter__(self) -> "LongWork":
        """The time runs."""
        if self._thread:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Removes the progress bar."""
        self._done.set()
        if self._thread:
            self._thread.join()

    def _show(self) -> None:
        begin = time.monotonic()
        if self._done.wait(PATIENCE):
            return
        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task(self.description, total=self.limit)
            while not self._done.wait(REFRESH):
                progress.update(task, completed=min(time.monotonic() - begin, self.limit or 0))
