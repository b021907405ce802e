#!/usr/bin/env python3
"""Renews the pictures of docs/how-to/read-the-report.md: report_screenshots.py [--build build/dev]

Stencils of 16, 1,024 and 16,384 ranks that were dealt round robin over the nodes; Debian's Chromium without a window.
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.support.ui import WebDriverWait

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "images"
SIDE = 1000  # pixels
SECONDS = 120
# Grid of the stencil, nodes, machine, and the element at the top of the picture.
PICTURES: dict[int, tuple[tuple[int, ...], int, str, str | None]] = {
    16: ((8, 2), 4, "node:4 core:4", None),
    1024: ((32, 32), 32, "switch:4 node:8 package:2 core:16", "machine"),
    16384: ((32, 32, 16), 256, "switch:16 node:16 package:2 core:32", None),
}
BROWSER_OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--window-size={SIDE},{SIDE}")


@contextmanager
def browser() -> Iterator[webdriver.Chrome]:
    """Chromium, with a profile that is removed."""
    programs = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if None in programs:
        sys.exit("report_screenshots: Debian's chromium and chromium-driver are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = str(programs[0])
    with tempfile.TemporaryDirectory() as profile:
        for option in (*BROWSER_OPTIONS, f"--user-data-dir={profile}"):
            options.add_argument(option)
        started = webdriver.Chrome(options=options, service=webdriver.ChromeService(str(programs[1])))
        try:
            started.set_window_size(SIDE, SIDE)
            # A window without a frame is smaller than its size by what a frame would take.
            inner = started.execute_script("return window.innerHeight")
            started.set_window_size(SIDE, 2 * SIDE - inner)
            yield started
        finally:
            started.quit()


def take(ranks: int, shown: webdriver.Chrome, folder: Path) -> None:
    """One picture."""
    from ranktree.report.document import build  # noqa: PLC0415  of the build tree that main() names
    from ranktree.report.html import as_html  # noqa: PLC0415
    from ranktree.report.inputs import Request  # noqa: PLC0415

    from tests.helpers.reports import save_stencil  # noqa: PLC0415

    shape, nodes, machine, top = PICTURES[ranks]
    save_stencil(folder / "app.npz", shape, hosts=nodes, mpi="Open MPI v4.1.4")
    page = folder / "report.html"
    page.write_text(as_html(build(Request(str(folder / "app.npz"), machine=machine))), encoding="utf-8")
    shown.get(page.as_uri())
    WebDriverWait(shown, SECONDS).until(lambda it: it.execute_script("return document.documentElement.dataset.ready"))
    if top is not None:
        shown.execute_script("document.getElementById(arguments[0]).scrollIntoView()", top)
    shown.save_screenshot(str(IMAGES / f"report-{ranks}.png"))


def main() -> None:
    """Every picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "dev", help="the build tree")
    sys.path[:0] = [str(parser.parse_args().build / "python"), str(ROOT)]
    for ranks in PICTURES:
        with browser() as shown, tempfile.TemporaryDirectory() as folder:
            take(ranks, shown, Path(folder))


if __name__ == "__main__":
    main()
