"""Ctrl-C during long work: the first keeps what there is, the second ends the program."""

import os
import signal
import sys
import threading
from types import FrameType, TracebackType

ENDED_BY_INTERRUPT = 130  # as shells report it
STOPPING = "\nranktree: stopping with the best found so far; Ctrl-C again ends at once\n"
SHOW_CURSOR = "\x1b[?25h"


class Interruption:
    """Within its `with`, `requested` is whether Ctrl-C was pressed.

    Python runs signal handlers between its own instructions only, of which a long computation in C++ has none. So the
    signals' numbers go through a pipe to a thread, which can end the program at once. For the main thread only.
    """

    def __init__(self) -> None:
        """Nothing has happened yet."""
        self.requested = False
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        self._thread = threading.Thread(target=self._listen, daemon=True)

    def __enter__(self) -> "Interruption":
        """Takes SIGINT over."""
        self._handler = signal.signal(signal.SIGINT, _ignore)
        self._wakeup = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Gives SIGINT back."""
        signal.set_wakeup_fd(self._wakeup)
        signal.signal(signal.SIGINT, self._handler)
        os.close(self._writer)  # ends the thread
        self._thread.join()
        os.close(self._reader)

    def _listen(self) -> None:
        while numbers := os.read(self._reader, 64):
            for number in numbers:
                if number != signal.SIGINT:
                    continue
                if self.requested:
                    _end()
                self.requested = True
                os.write(sys.stderr.fileno(), STOPPING.encode())


def _ignore(number: int, frame: FrameType | None) -> None:
    """The thread has heard of it."""


def _end() -> None:
    if sys.stderr.isatty():
        os.write(sys.stderr.fileno(), SHOW_CURSOR.encode())
    os._exit(ENDED_BY_INTERRUPT)
