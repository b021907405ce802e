"""A child process that stands in for this one: its signals, its exit code."""

import importlib
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

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
ENDING = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT}
GRACE_SECONDS = 5


class Interrupted(Exception):
    """A signal requested the end of this process, which cli/main.py ends by it; `number` is the signal."""

    def __init__(self, number: int) -> None:
        """Remembers the signal."""
        super().__init__(signal.Signals(number).name)
        self.number = number


class Child:
    """A command that runs to its end while every signal sent to us is passed on to it.

    Signals that the terminal sends reach the child by themselves: only those with a sending process are passed on.
    """

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str]) -> None:
        """Nothing is started yet."""
        self.arguments = list(arguments)
        self.environment = dict(environment)
        self.ended_by: int | None = None  # the signal that this process was sent
        self.late = False  # it did not end in time

    def run(
        self,
        seconds: float | None = None,
        output: Path | None = None,
        errors: Path | None = None,
        done: Callable[[], bool] | None = None,
    ) -> int:
        """The exit code, or minus the signal of its termination; both streams may go to files.

        A child whose output goes to a file leaves our standard input to the program that is run afterwards. One that
        has `done` everything has GRACE_SECONDS left: PRRTE 3 hangs after its last rank has exited, once in 50 launches.
        """
        redirected = [(path, number) for path, number in ((output, 1), (errors, 2)) if path is not None]
        for path, _ in redirected:  # O_EXCL makes a new file: it follows no link, and no other user can read it
            path.unlink(missing_ok=True)
        actions = [
            (os.POSIX_SPAWN_OPEN, number, path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            for path, number in redirected
        ]
        if output is not None:
            actions.append((os.POSIX_SPAWN_OPEN, 0, Path(os.devnull), os.O_RDONLY, 0))
        before = signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED | {signal.SIGCHLD})
        try:
            started = os.posix_spawnp(
                self.arguments[0],
                self.arguments,
                self.environment,
                file_actions=actions,
                setsigmask=before,
                setsigdef=[signal.SIGPIPE],
            )
            return self._wait(started, seconds, done)
        except OSError as error:
            raise OSError(f"{self.arguments[0]}: {error.strerror}") from None
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _wait(self, child: int, seconds: float | None, done: Callable[[], bool] | None) -> int:
        start = time.monotonic()
        while True:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                pending = signal.sigtimedwait(ENDING, 0)  # sent to both: the child was faster
                if pending is not None:
                    self.ended_by = pending.si_signo
                return os.waitstatus_to_exitcode(status)
            self._forward(child, signal.sigtimedwait(FORWARDED | {signal.SIGCHLD}, 1))
            passed = time.monotonic() - start
            if done is not None and done():
                seconds, done = passed + GRACE_SECONDS, None
            over = passed - seconds if seconds is not None else -1
            if over > 0:
                os.kill(child, signal.SIGKILL if over > GRACE_SECONDS else signal.SIGTERM)
                self.late = True

    def _forward(self, child: int, received: signal.struct_siginfo | None) -> None:
        if received is None or received.si_signo == signal.SIGCHLD:
            return
        if received.si_signo in ENDING:
            self.ended_by = received.si_signo
        sent_by_a_process = received.si_code <= 0
        if sent_by_a_process:
            os.kill(child, received.si_signo)
        if received.si_signo == signal.SIGTSTP:
            os.kill(os.getpid(), signal.SIGSTOP)


def import_with_threads(module: str) -> None:
    """Imports what starts threads of its own, as numpy does: with signals blocked, which is for Child to receive.

    A signal to a process goes to any thread that does not block it, and would end us without our child.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED)
    try:
        importlib.import_module(module)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def run_through(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """Runs a command to its end, signals passed on; its exit code, or minus the signal of its termination."""
    return Child(arguments, environment).run()


def become(arguments: list[str]) -> NoReturn:
    """Becomes a command, which then gets all signals by itself. OSError where it cannot be started."""
    sys.stdout.flush()
    sys.stderr.flush()
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(arguments[0], arguments)
    except OSError as error:
        raise OSError(f"{arguments[0]}: {error.strerror}") from None


def become_result(code: int) -> NoReturn:
    """Exits with the code of the child, or is terminated by its signal."""
    sys.stdout.flush()
    sys.stderr.flush()
    if code < 0:
        if -code != signal.SIGKILL:  # nothing can handle it
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code if code >= 0 else 128 - code)
