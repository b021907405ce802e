"""A child process that stands in for this one: its signals, its exit code."""

import os
import signal
import sys
from collections.abc import Mapping, Sequence

FORWARDED = {
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGALRM,
    signal.SIGCONT,
    signal.SIGTSTP,
    signal.SIGWINCH,
}


def run_through(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """Runs a command to its end, passing on every signal sent to us; returns its exit code, or minus its signal.

    Signals that the terminal sends reach the child by themselves: only those with a sending process are passed on.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED | {signal.SIGCHLD})
    try:
        try:
            child = os.posix_spawnp(
                arguments[0], list(arguments), dict(environment), setsigmask=before, setsigdef=[signal.SIGPIPE]
            )
        except OSError as error:
            raise OSError(f"{arguments[0]}: {error.strerror}") from None
        return wait(child)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def wait(child: int) -> int:
    """Waits for the child's end with the signals blocked, passing them on as they come."""
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        received = signal.sigtimedwait(FORWARDED | {signal.SIGCHLD}, 1)
        if received is None or received.si_signo == signal.SIGCHLD:
            continue
        sent_by_a_process = received.si_code <= 0
        if sent_by_a_process:
            os.kill(child, received.si_signo)
        if received.si_signo == signal.SIGTSTP:
            os.kill(os.getpid(), signal.SIGSTOP)


def become_result(code: int) -> None:
    """Ends this process as the child ended: with its exit code, or by its signal."""
    sys.stdout.flush()
    sys.stderr.flush()
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code if code >= 0 else 128 - code)
