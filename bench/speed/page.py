"""Measure the web page in Chromium: how soon it shows, what it weighs, and whether it stays quick under load.

Flow: a service that `build.py` started, `page_workload.py` -> **here** -> `page_table.py`, JSON.

Chromium is Debian's, without a window and without a GPU; Playwright drives it. Both are for developers only, so they
are looked for here and not at the start of the program.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from statistics import median
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from bench.speed.page_workload import OUTLINE_ID, QUESTION, outline
from errors import RagError

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WIDTH_PX, HEIGHT_PX, LOW_PX = 1300, 850, 300
LIMIT_MS = 120_000
LONG_TASK_MS = 50
"""The browser reports tasks from this length on; a frame that takes longer is missed by the eye."""
SCROLLS, SCROLL_PX, SCROLL_PAUSE_MS = 60, 120, 30

_WATCH_TASKS = """
window.longTasks = [];
new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map(({ duration }) => duration)))
  .observe({ type: "longtask", buffered: true });
"""
_FIRST_PAINT = """() => new Promise((resolve) => {
  const name = "first-contentful-paint";
  const look = (list) => list.getEntriesByName(name).forEach(({ startTime }) => resolve(startTime));
  new PerformanceObserver(look).observe({ type: "paint", buffered: true });
})"""
_USABLE = """() => new Promise((resolve) => {
  const look = () => (document.querySelector("#question") ? resolve(performance.now()) : requestAnimationFrame(look));
  look();
})"""
_WEIGHT = """() => {
  const parts = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
  const sum = (name) => parts.reduce((total, part) => total + part[name], 0);
  return [sum("transferSize"), sum("decodedBodySize")];
}"""
# From the click to the frame in which the cited words are in sight.
_OPEN = """(selector) => new Promise((resolve) => {
  const clicked = performance.now();
  document.querySelector(selector).click();
  const look = () => {
    const box = document.querySelector(".evidence mark.cited")?.getBoundingClientRect();
    const seen = box && box.top >= 0 && box.bottom <= innerHeight;
    requestAnimationFrame(() => (seen ? resolve(performance.now() - clicked) : look()));
  };
  look();
})"""
# The same for a document's page, from the start of its request.
_OPENED = """() => new Promise((resolve) => {
  const look = () => {
    const box = document.querySelector("mark")?.getBoundingClientRect();
    const seen = box && box.top >= 0 && box.bottom <= innerHeight;
    requestAnimationFrame(() => (seen ? resolve(performance.now()) : look()));
  };
  look();
})"""
_WATCH_FRAMES = """() => {
  window.frames_ms = [];
  let before = performance.now();
  const frame = (now) => { window.frames_ms.push(now - before); before = now; requestAnimationFrame(frame); };
  requestAnimationFrame(frame);
}"""


class BrowserMissingError(RagError):
    """Nothing here can open the page."""

    code = "browser_missing"


@dataclass(frozen=True, slots=True)
class Measured:
    """What the browser saw; lists hold one entry a load of the page.

    Attributes:
        first_paint_ms: from the request of `/ui` to its first text, with an empty cache.
        usable_ms: to the box for the question.
        transferred_bytes: of everything that load took, headers included.
        decoded_bytes: the same, unpacked.
        words: of the answer that was streamed.
        tasks_ms: tasks of `LONG_TASK_MS` or more on the page's thread while it was.
        open_ms: from the click on a passage at the end of the long document to the words in sight.
        page_open_ms: from the request of that document's own page to the words in sight.
        nodes: drawn of the outline.
        frames_ms: every frame while the outline was scrolled.
    """

    first_paint_ms: list[float]
    usable_ms: list[float]
    transferred_bytes: int
    decoded_bytes: int
    words: int
    tasks_ms: list[float]
    open_ms: list[float]
    page_open_ms: list[float]
    nodes: int
    frames_ms: list[float]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON-ready values."""
        return asdict(self)

    def late_frames(self) -> list[float]:
        """Return the frames that took longer than `LONG_TASK_MS`."""
        return [frame for frame in self.frames_ms if frame > LONG_TASK_MS]


def measure(url: str, doc_id: str, repeats: int, tell: Callable[[str], None]) -> Measured:
    """Open the page of a running service `repeats` times, and measure it.

    Args:
        url: of the service; its corpus holds the long document, and its language model writes the long answer.
        doc_id: of the long document.
        repeats: 1 and more.
        tell: is told what is measured.

    Raises:
        BrowserMissingError: Playwright or Chromium is not installed.
    """
    with _browser() as browser:
        tell("loading the page")
        paints, usable, weights = [], [], []
        for _ in range(repeats):
            with _page(browser) as page:
                page.goto(f"{url}/ui", wait_until="commit")
                paints.append(float(page.evaluate(_FIRST_PAINT)))
                usable.append(float(page.evaluate(_USABLE)))
                page.wait_for_load_state("networkidle")
                weights.append(page.evaluate(_WEIGHT))
        tell("streaming an answer")
        words, tasks = _stream(browser, url)
        tell("opening the long document")
        opened = [_open(browser, url) for _ in range(repeats)]
        alone = [_open_alone(browser, url, doc_id) for _ in range(repeats)]
        tell("scrolling the outline")
        nodes, frames = _scroll(browser, url)
    transferred, decoded = (int(median(part)) for part in zip(*weights, strict=True))
    return Measured(paints, usable, transferred, decoded, words, tasks, opened, alone, nodes, frames)


def _stream(browser: "Browser", url: str) -> tuple[int, list[float]]:
    with _page(browser) as page:
        page.goto(f"{url}/ui")
        page.fill("#question", QUESTION)
        page.evaluate(_WATCH_TASKS)
        page.evaluate("window.longTasks.length = 0")  # those of the load
        page.keyboard.press("Enter")
        page.wait_for_selector(".exchange .by")
        return len(page.inner_text(".answer").split()), [float(task) for task in page.evaluate("window.longTasks")]


def _open(browser: "Browser", url: str) -> float:
    with _page(browser) as page:
        page.goto(f"{url}/ui#retrieve?{urlencode({'q': QUESTION, 'view': 'list'})}")
        page.wait_for_selector(".passages .place")
        return float(page.evaluate(_OPEN, ".passages .place"))


def _open_alone(browser: "Browser", url: str, doc_id: str) -> float:
    with _page(browser) as page:
        length = len(page.request.get(f"{url}/documents/{doc_id}").json()["text"])
        page.goto(f"{url}/documents/{doc_id}?start={length - 30}&end={length - 1}#cited", wait_until="commit")
        return float(page.evaluate(_OPENED))


def _scroll(browser: "Browser", url: str) -> tuple[int, list[float]]:
    document, found = outline()
    with _page(browser) as page:
        page.route("**/retrieve", lambda route: route.fulfill(json=found))
        page.route(f"**/documents/{OUTLINE_ID}*", lambda route: route.fulfill(json=document))
        # Low enough that there is something to scroll.
        page.set_viewport_size({"width": WIDTH_PX, "height": LOW_PX})
        page.goto(f"{url}/ui#retrieve?q=outline")
        page.wait_for_selector(".box.hit")
        page.wait_for_timeout(1000)
        page.mouse.move(WIDTH_PX / 2, LOW_PX / 2)
        page.evaluate(_WATCH_FRAMES)
        for place in range(SCROLLS):
            page.mouse.wheel(0, SCROLL_PX if place < SCROLLS / 2 else -SCROLL_PX)
            page.wait_for_timeout(SCROLL_PAUSE_MS)
        return len(document["nodes"]), [float(frame) for frame in page.evaluate("window.frames_ms")]


def require_browser() -> str:
    """Return the path of Chromium.

    Raises:
        BrowserMissingError: it or Playwright is not installed.
    """
    if find_spec("playwright") is None:
        raise BrowserMissingError("Playwright is not installed.", "Run `.venv/bin/pip install -e '.[dev]'`.")
    chromium = shutil.which("chromium")
    if chromium is None:
        raise BrowserMissingError("Chromium is not installed.", "Run `apt-get install chromium`.")
    return chromium


@contextmanager
def _browser() -> Iterator["Browser"]:
    chromium = require_browser()
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  # for developers only

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def _page(browser: "Browser") -> Iterator["Page"]:
    """Open a page that remembers nothing, not even a cache."""
    context = browser.new_context(viewport={"width": WIDTH_PX, "height": HEIGHT_PX}, locale="en-GB")
    context.set_default_timeout(LIMIT_MS)
    try:
        yield context.new_page()
    finally:
        context.close()
