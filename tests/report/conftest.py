"""What the tests of reports share: the package under test, patterns made from arithmetic, a headless browser."""

import shutil
import tempfile
from collections.abc import Iterator

import pytest

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
