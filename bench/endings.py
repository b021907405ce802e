"""How a bench ends when a signal asks it to: its launches and clusters end first."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Ended(Exception):
    """A signal asked us to end: no launch's failure."""


def end_by_exception() -> None:
    """From now on signals raise Ended."""
    for number in SIGNALS:
        signal.signal(number, _end)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Signals wait for the end of what is within."""
    came: list[int] = []
    before = {number: signal.signal(number, lambda received, _: came.append(received)) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if came:
            _end()


def _end(*_: object) -> None:
    """The signals that follow do not disturb the ending."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    raise Ended
