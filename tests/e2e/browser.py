"""What the tests of the page share: Debian's Chromium, axe-core, a hostile text, a watch on what a page must not do.

Flow: **here** -> the fixtures `browser` and `page` in `conftest.py` -> `test_page*.py`.
"""

import shutil
from pathlib import Path
from typing import Literal

import axe_playwright_python
from playwright.sync_api import Browser, Page, expect

CHROMIUM = shutil.which("chromium")
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
XSS = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
# A busy machine is slow; nothing here measures time.
PATIENCE_MS = 120_000
expect.set_options(timeout=PATIENCE_MS)


def opened(browser: Browser, width: int = 1300, theme: Literal["light", "dark"] = "light") -> Page:
    """Return an empty page with its own context, which the caller closes."""
    context = browser.new_context(
        viewport={"width": width, "height": 850}, locale="en-GB", reduced_motion="reduce", color_scheme=theme
    )
    context.set_default_timeout(PATIENCE_MS)
    return context.new_page()


class Watched:
    """Notes what a page must never do."""

    def __init__(self, page: Page, origin: str) -> None:
        self.faults: list[str] = []
        page.on("console", lambda message: self._note(message.text, is_fault=message.type == "error"))
        page.on("pageerror", lambda error: self._note(str(error)))
        page.on("request", lambda request: self._note(request.url, is_fault=not request.url.startswith(origin)))
        page.on("dialog", lambda dialog: self._note(dialog.message))

    def _note(self, what: str, *, is_fault: bool = True) -> None:
        if is_fault:
            self.faults.append(what)


def violations(page: Page) -> list[str]:
    """Return what axe-core finds in the page as it stands."""
    page.evaluate(AXE)
    broken = page.evaluate("axe.run().then((result) => result.violations)")
    return [f"{one['id']}: {node['html'][:200]}" for one in broken for node in one["nodes"]]
