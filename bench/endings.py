"""Stops a benchmark at a signal: its launches and clusters are stopped first."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Ended(Exception):
    """A signal stopped the benchmark; no launch has failed."""


def end_by_exception() -> None:
    """Makes signals raise Ended."""
    for number in SIGNALS:
        signal.signal(number, _end)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Delays signals until the block is left."""
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
    """Further signals do not disturb the shutdown."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    raise Ended
