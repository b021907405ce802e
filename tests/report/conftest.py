"""What the tests of reports share: the package under test, patterns made from arithmetic, a headless browser."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "cluster"), str(ROOT / "tools" / "minicluster")]

BROWSER_OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1200,900",
)


def save_stencil(path: Path, shape: tuple[int, ...], hosts: int = 0, **metadata: object) -> None:
    """A halo exchange on a grid: 1000 messages a pair, fewer bytes in each further dimension; hosts round robin."""
    from ranktree import _core  # noqa: PLC0415  after the path is set

    ranks = int(np.prod(shape))
    grid = np.arange(ranks).reshape(shape)
    ends: list[np.ndarray] = []
    sizes = []
    for axis in range(len(shape)):
        low, high = (np.take(grid, range(*cut), axis).ravel() for cut in ((0, shape[axis] - 1), (1, shape[axis])))
        ends += [np.stack([low, high]), np.stack([high, low])]
        sizes += [np.full(2 * len(low), 65536.0 / 4**axis)]
    senders, receivers = np.concatenate(ends, axis=1).astype(np.int64)
    messages = np.full(len(senders), 1000.0)
    pattern = _core.Pattern.from_pairs(ranks, senders, receivers, messages, messages * np.concatenate(sizes))
    names = [f"n{rank % hosts}" for rank in range(ranks)] if hosts else []
    pattern.metadata = {"program": "./stencil", "source": "ranktree trace", "hosts": names, **metadata}
    _core.save_pattern(str(path), pattern)


def script(path: Path, text: str) -> Path:
    """A shell script."""
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def left_of(mark: str) -> list[str]:
    """Command lines of processes that hold a mark."""
    found = []
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = line.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if mark in words:
            found.append(words)
    return found


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    """Debian's Chromium without a window; skipped where it is not installed. It never downloads one."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("Debian's chromium and chromium-driver are not installed")
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with tempfile.TemporaryDirectory() as profile:
        for option in (*BROWSER_OPTIONS, f"--user-data-dir={profile}"):
            options.add_argument(option)
        started = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
        started.set_page_load_timeout(60)
        try:
            yield started
        finally:
            started.quit()
