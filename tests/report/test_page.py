"""The page in a headless browser: it renders, requests nothing, follows mouse and keyboard, and shows the document."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.reports import save_stencil

pytest.importorskip("ranktree._core", reason="the extension is not built")
pytest.importorskip("selenium", reason="selenium is not installed")
from ranktree.report.arrays import unpacked
from ranktree.report.document import build
from ranktree.report.html import as_html
from ranktree.report.inputs import Request
from ranktree.report.units import bytes_text, count_text
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.ui import WebDriverWait

MACHINE = "node:4 package:2 core:4"
SECONDS = 60
PROBES = Path(__file__).with_name("probes.js").read_text(encoding="utf-8")
READY = "return document.documentElement.dataset.ready"
LOG = (
    "ranktree: 4 ranks on 1 node: broadcast 32K: shared:binomial | native 31 us | shared:binomial 14 us | for 9 calls\n"
    "ranktree: 4 ranks on 1 node: spent: set-up 49.9 ms, agreements 0 us, trials 0 us; allowed 2.22 ms in 60.9 ms"
)
RUNS = {
    "format": "ranktree-runs",
    "version": 1,
    "what": "wall time",
    "unit": "s",
    "series": [
        {"name": name, "command": ["mpirun", "./app"], "values": values, "median": values[1], "interval": values[::2]}
        for name, values in (("before", [2.0, 2.1, 2.2]), ("plan", [1.0, 1.1, 1.2]))
    ],
    "comparison": {"result": "faster", "sentence": "1.91x faster.", "ratio": 1.909, "low": 1.7, "high": 2.1},
}


class Page:
    """A page that is open in the browser, and the document it was made from."""

    def __init__(self, browser: WebDriver, document: dict[str, Any], path: Path) -> None:
        """Opens the page and waits until it is complete."""
        self.browser, self.document = browser, document
        path.write_text(as_html(document), encoding="utf-8")
        browser.get_log("browser")
        browser.get_log("performance")
        browser.get(path.as_uri())
        WebDriverWait(browser, SECONDS).until(lambda it: it.execute_script(READY))

    def text(self, name: str) -> str:
        """The text of the element of this id."""
        return self.browser.find_element(By.ID, name).text

    def rows(self, name: str) -> list[list[str]]:
        """The texts of a table's cells."""
        return self.probe("rowsOf", name)

    def probe(self, function: str, *arguments: Any) -> Any:
        """The result of a function of probes.js."""
        return self.browser.execute_script(f"{PROBES}\nreturn {function}(...arguments)", *arguments)

    def window(self) -> list[int]:
        """Row, column and size of what the heat maps show."""
        return list(map(int, self.browser.find_element(By.ID, "heat-maps").get_attribute("data-window").split()))

    def press(self, name: str, *keys: str) -> None:
        """Keys on the element of this id."""
        self.browser.execute_script("arguments[0].focus()", self.browser.find_element(By.ID, name))
        ActionChains(self.browser).send_keys(*keys).perform()

    def point(self, row: int, column: int, size: int) -> str:
        """Moves the mouse to a cell of the first heat map; what the status line then shows."""
        canvas = self.browser.find_element(By.ID, "heat-0")
        self.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
        width = canvas.size["width"]
        offsets = [round((at + 0.5) * width / size - width / 2) for at in (column, row)]
        ActionChains(self.browser).move_to_element_with_offset(canvas, *offsets).perform()
        return self.text("heat-status")


@pytest.fixture(scope="module")
def page(browser: WebDriver, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """30 ranks traced round robin over 4 nodes, with runs and a log."""
    folder = tmp_path_factory.mktemp("page")
    program = "/home/user/projects/climate/build/release/bin/a_model_with_a_long_name"
    save_stencil(folder / "app.npz", (6, 5), hosts=4, unattributed={"MPI_Comm_spawn": 2.0}, program=program)
    (folder / "runs.json").write_text(json.dumps(RUNS), encoding="utf-8")
    (folder / "log.txt").write_text(LOG, encoding="utf-8")
    request = Request(
        str(folder / "app.npz"), machine=MACHINE, runs=str(folder / "runs.json"), log=str(folder / "log.txt")
    )
    return Page(browser, build(request), folder / "report.html")


@pytest.fixture
def open_page(browser: WebDriver, tmp_path: Path) -> Callable[..., Page]:
    """Opens the report of a stencil."""

    def open_(shape: tuple[int, ...], hosts: int = 0, **options: Any) -> Page:
        save_stencil(tmp_path / "app.npz", shape, hosts)
        return Page(browser, build(Request(str(tmp_path / "app.npz"), **options)), tmp_path / "report.html")

    return open_


def requests_of(browser: WebDriver) -> list[str]:
    """The addresses that the page requested; the browser's own pages have others."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [each["params"] for each in messages if each["method"] == "Network.requestWillBeSent"]
    return [each["request"]["url"] for each in sent if each["documentURL"] == browser.current_url]


def test_renders_without_an_error_and_requests_nothing(page: Page) -> None:
    """The page itself is the only thing that is loaded; `data:` and `blob:` never leave it."""
    page.browser.get(page.browser.current_url)
    WebDriverWait(page.browser, SECONDS).until(lambda it: it.execute_script(READY))
    assert page.browser.get_log("browser") == []
    requested = [url for url in requests_of(page.browser) if not url.startswith(("data:", "blob:"))]
    assert set(requested) == {page.browser.current_url}
    ids = page.browser.execute_script("return [...document.querySelectorAll('section')].map(s => s.id)")
    assert ids == ["heat", "levels", "machine", "links", "limits", "nodes", "pairs", "sizes", "shares", "recording",
                   "decisions", "times", "commands", "absent"]  # fmt: skip


def test_the_verdict_stands_on_the_first_screen(page: Page) -> None:
    assert page.text("verdict") == page.document["verdict"]["sentence"] == "Measured: 1.91x faster."
    place = page.browser.execute_script("return document.getElementById('figures').getBoundingClientRect().bottom")
    assert place < 700
    assert "1.91x" in page.text("figures")


def test_tables_show_the_document(page: Page) -> None:
    document = page.document
    used = [index for index in range(4) if any(each["weight"][index] for each in document["levels"]["placements"])]
    expected = [bytes_text(each["weight"][index]) for index in used for each in document["levels"]["placements"]]
    assert [row[-1] for row in page.rows("levels-table")] == expected
    totals = [each["total"] for each in document["levels"]["placements"]] + [document["levels"]["bound"]]
    assert [float(row[-1].replace(",", "")) for row in page.rows("cost-table")] == pytest.approx(totals, rel=1e-5)
    links = [bytes_text(link[name]["bytes"]) for link in document["links"] for name in ("traced", "plan")]
    assert [row[-1] for row in page.rows("links-table")] == links
    pairs = [[f"{row['from']} \u2192 {row['to']}", count_text(row["messages"]), bytes_text(row["bytes"])]
             for row in document["top_pairs"][:25]]  # fmt: skip
    assert [row[:3] for row in page.rows("pairs-table")] == pairs
    assert page.rows("lost-table") == [["MPI_Comm_spawn", "2"]]
    kind, account = page.rows("decisions-table")
    assert kind[:3] == ["4 ranks on 1 node", "broadcast 32K", "shared:binomial"]
    assert account == [document["collective_decisions"][1]["text"]]
    assert [row[:3] for row in page.rows("times-table")] == [["before", "3", "2.1 s"], ["plan", "3", "1.1 s"]]
    assert page.rows("classes-table")[0][2:] == [
        "100 %", count_text(document["traffic"]["messages"]), bytes_text(document["traffic"]["bytes"])
    ]  # fmt: skip


def test_each_placement_has_its_limit_and_what_would_help(page: Page) -> None:
    shown = page.text("limits").lower().splitlines()
    for limit in page.document["limits"]:
        assert limit["sentence"].lower() in shown
        expected = [each["sentence"].lower().replace("`", "") for each in limit["would_help"]]
        assert expected and set(expected) <= set(shown)


def test_hover_shows_the_pair_under_the_mouse(page: Page) -> None:
    page.press("heat-0", "0")
    slots = unpacked(page.document["machine"]["placements"][0]["slot_of"])
    rank_at = slots.argsort(kind="stable").tolist()
    row, column = rank_at.index(0), rank_at.index(5)  # neighbours in the first dimension: 65,536 bytes a message
    said = page.point(row, column, 30)
    assert "rank 0 \u2192 rank 5" in said
    assert "1,000 messages" in said and "65,536,000 bytes" in said
    level = page.document["machine"]["kinds"][0 if slots[0] // 8 != slots[5] // 8 else 1]
    assert "they meet on" in said and (level in said or "Package" in said)
    assert "nothing" in page.point(row, rank_at.index(29), 30)


def test_keyboard_moves_and_zooms(page: Page) -> None:
    page.press("heat-1", "0")
    assert page.window() == [0, 0, 30]
    before = page.text("heat-status")
    page.press("heat-1", Keys.ARROW_RIGHT, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert page.text("heat-status") != before
    assert page.text("heat-status").startswith("By the plan")
    page.press("heat-1", "+")
    assert page.window()[2] == 15
    page.press("heat-1", "+", "+", "+", "+")
    assert page.window()[2] == 4
    page.press("heat-1", *[Keys.ARROW_DOWN] * 40)
    assert page.window()[0] == 26
    page.press("heat-1", "-")
    assert page.window()[2] == 8
    page.press("heat-1", "0")
    assert page.window() == [0, 0, 30]
    page.press("zoom-in", Keys.ENTER)
    assert page.window()[2] == 15
    page.press("zoom-all", Keys.ENTER)


def test_both_pictures_mark_the_same_pair(page: Page) -> None:
    """The ring's colour appears in the second picture where the first one's cursor points at a pair."""
    slots = unpacked(page.document["machine"]["placements"][0]["slot_of"])
    rank_at = slots.argsort(kind="stable").tolist()
    page.point(rank_at.index(0), rank_at.index(29), 30)
    assert page.probe("ringPixels", "heat-1") == 0
    page.point(rank_at.index(0), rank_at.index(5), 30)
    assert page.probe("ringPixels", "heat-1") > 20


def test_cells_have_the_colours_of_their_amounts(page: Page) -> None:
    """Equal amounts have equal colours, more is farther from the background, nothing is the background."""
    page.press("heat-0", "0")
    slots = unpacked(page.document["machine"]["placements"][0]["slot_of"])
    at = slots.argsort(kind="stable").tolist().index
    heavy, same, light, none = (
        page.probe("cellColour", "heat-0", at(a), at(b), 30) for a, b in ((0, 5), (7, 12), (0, 1), (0, 29))
    )
    assert heavy == same != light
    assert sum(heavy[:3]) < sum(light[:3])
    assert none[3] == 0


def test_the_machine_follows_placement_and_keyboard(page: Page) -> None:
    page.press("machine-picture", Keys.ARROW_LEFT)
    labels = "return [...document.querySelectorAll('#machine-picture .rank')].map(t => Number(t.textContent))"
    choose = "document.querySelector(`input[name=machine-placement][value=${arguments[0]}]`).click()"
    for placement in page.document["machine"]["placements"]:
        page.browser.execute_script(choose, placement["name"])
        assert page.browser.execute_script(labels) == unpacked(placement["slot_of"]).argsort().tolist()
    first = page.text("machine-status")
    page.press("machine-picture", Keys.ARROW_RIGHT)
    second = page.text("machine-status")
    assert first != second and second.startswith("node n0, PU 1: rank ")
    lines = page.browser.execute_script("return document.querySelectorAll('#machine-picture .arc').length")
    heavy = [pair for pair in page.document["crossing"]["plan"] if pair["bytes"] >= 65536000 / 50]
    assert lines == min(24, len(heavy))


def test_controls_have_names_and_the_page_a_structure(page: Page) -> None:
    assert page.probe("namelessControls") == 0
    assert page.browser.execute_script("return document.querySelectorAll('h1').length") == 1
    assert page.browser.find_element(By.TAG_NAME, "html").get_attribute("lang") == "en"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_contrasts_with_its_background(page: Page, theme: str) -> None:
    """At least 4.5 : 1 (WCAG 2.1) for every text that is shown, in both themes."""
    if page.browser.find_element(By.TAG_NAME, "html").get_attribute("data-theme") != theme:
        page.press("theme", Keys.ENTER)
    worst = page.probe("lowestContrast")
    assert worst["value"] >= 4.5, worst


def test_the_matrix_of_nodes_follows_the_theme(page: Page) -> None:
    """The heaviest cell is the farthest from the background in both themes."""
    script = """return [...document.querySelectorAll('table.nodes td[data-share]')].map((cell) => [
      Number(cell.dataset.share), getComputedStyle(cell).backgroundColor.match(/[0-9.]+/g).slice(0, 3).map(Number)])"""
    for _ in range(2):
        cells = sorted((share, sum(colour)) for share, colour in page.browser.execute_script(script))
        assert len(cells) > 1
        dark = page.browser.find_element(By.TAG_NAME, "html").get_attribute("data-theme") == "dark"
        assert (cells[-1][1] > cells[0][1]) == dark, cells
        page.press("theme", Keys.ENTER)


def test_nothing_is_wider_than_a_phone(page: Page) -> None:
    metrics = {"width": 390, "height": 800, "deviceScaleFactor": 2, "mobile": True}
    page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        assert page.browser.execute_script("return document.documentElement.scrollWidth") <= 390
    finally:
        page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_paper_is_light(page: Page) -> None:
    """Printed from dark colours, the page has black text, light cells for little, and no controls."""
    if page.browser.find_element(By.TAG_NAME, "html").get_attribute("data-theme") != "dark":
        page.press("theme", Keys.ENTER)
    slots = unpacked(page.document["machine"]["placements"][0]["slot_of"])
    at = slots.argsort(kind="stable").tolist().index
    pair = ("heat-0", at(0), at(5), 30)  # among the heaviest
    bright = page.probe("cellColour", *pair)
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        WebDriverWait(page.browser, SECONDS).until(lambda _: page.probe("cellColour", *pair) != bright)
        assert sum(page.probe("cellColour", *pair)[:3]) < sum(bright[:3])
        assert page.probe("lowestContrast")["value"] >= 4.5
        assert not page.browser.find_element(By.ID, "zoom-in").is_displayed()
        assert "logarithmic" in page.text("heat-range")
        chosen = page.browser.find_element(By.CSS_SELECTOR, "input[name=machine-placement]:checked")
        assert chosen.is_displayed()
    finally:
        page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_a_pattern_alone_has_one_picture_and_no_empty_chart(open_page: Callable[..., Page]) -> None:
    page = open_page((4, 4))
    assert page.browser.get_log("browser") == []
    assert len(page.browser.find_elements(By.CSS_SELECTOR, "canvas.heat")) == 1
    ids = page.browser.execute_script("return [...document.querySelectorAll('section')].map(s => s.id)")
    assert ids == ["heat", "pairs", "sizes", "shares", "recording", "commands", "absent"]
    assert "name a machine" in page.text("absent")


def test_more_than_2048_ranks_are_binned_and_zoom_to_single_pairs(open_page: Callable[..., Page]) -> None:
    page = open_page((16, 16, 16), 256, machine="node:256 core:16")
    assert page.browser.get_log("browser") == []
    assert page.window() == [0, 0, 4096]
    assert "a cell is 8 x 8 ranks" in page.text("heat-range")
    page.press("heat-0", "0", *["+"] * 12)
    assert page.window()[2] == 4
    said = page.text("heat-status")
    assert "rank 0 \u2192 rank" in said
    tiles = page.browser.execute_script("return document.querySelectorAll('#machine-picture .tile').length")
    assert tiles == 256
    assert page.browser.execute_script("return document.querySelectorAll('#machine-picture .arc').length") > 0


def test_a_dense_pattern_is_shown_as_blocks(
    browser: WebDriver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the pairs do not fit into the page, cells are blocks, and hovering shows their sums."""
    monkeypatch.setattr("ranktree.report.cells.BUDGET", 500)
    save_stencil(tmp_path / "app.npz", (8, 8), 4)
    document = build(Request(str(tmp_path / "app.npz"), machine="node:4 core:16"))
    width = document["heat_map"]["bin"]
    assert width > 1
    page = Page(browser, document, tmp_path / "report.html")
    assert page.browser.get_log("browser") == []
    cells = document["heat_map"]["maps"][0]
    said = page.point(0, 0, document["heat_map"]["size"])
    assert f"({count_text(unpacked(cells['bytes'])[0])} bytes)" in said
    assert f"in {count_text(int(unpacked(cells['pairs'])[0]))} pairs" in said


def test_a_phone_shows_amounts_and_commands_whole(page: Page) -> None:
    """No line break between a number and its unit, no command that is cut, and ranks that are large enough to read."""
    metrics = {"width": 390, "height": 800, "deviceScaleFactor": 2, "mobile": True}
    page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        assert page.probe("lines", "#links-table td:last-child") == [1] * len(page.rows("links-table"))
        assert page.probe("cut", "#commands pre") == 0
        assert page.probe("lowestText", "#machine-picture .rank, #times-picture text") >= 9
    finally:
        page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_commands_in_sentences_are_code(open_page: Callable[..., Page]) -> None:
    page = open_page((4, 4), machine="node:4 core:4")
    code = page.browser.execute_script("return [...document.querySelectorAll('#absent code')].map(c => c.textContent)")
    assert code == [part for line in page.document["absent"] for part in line.split("`")[1::2]] != []
    assert "`" not in page.text("absent") + page.text("limits")
