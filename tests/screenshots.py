"""Take the pictures of the page that README and docs show, of the sample: `make screenshots`.

Flow: the sample ingested into a temporary index -> a service, Debian's Chromium -> **here** -> `docs/page-*.png`.
"""

import tempfile
from pathlib import Path

from playwright.sync_api import Page, ViewportSize, sync_playwright

from tests.e2e.browser import CHROMIUM
from tests.e2e.program import REPOSITORY, Program, run

SIZE: ViewportSize = {"width": 1180, "height": 640}
QUESTION = "What did Albert Betz find out about wind turbines?"


def main() -> None:
    """Write the pictures."""
    with tempfile.TemporaryDirectory() as name:
        variables = {"RAG_INDEX__DIR": f"{name}/index", "RAG_SERVE__PORT": "0"}
        ingested = run(["-m", "ingestion", str(REPOSITORY / "data" / "corpus")], variables, Path(name))
        assert ingested.returncode == 0, ingested.stderr
        with Program([str(REPOSITORY / "main.py")], variables, Path(name)) as service, sync_playwright() as driver:
            page = driver.chromium.launch(executable_path=CHROMIUM).new_page(viewport=SIZE, reduced_motion="reduce")
            for picture, view in {"ask": _ask, "tree": _tree, "pipelines": _pipelines}.items():
                page.goto("about:blank")  # a change of the hash alone would not reload the page
                view(page, f"{service.url}/ui")
                page.mouse.move(0, 0)
                page.screenshot(path=REPOSITORY / "docs" / f"page-{picture}.png")


def _ask(page: Page, url: str) -> None:
    page.goto(url)
    page.fill("#question", QUESTION)
    page.keyboard.press("Enter")
    page.locator("button.cite").first.click()
    page.locator("mark.cited").first.wait_for()


def _tree(page: Page, url: str) -> None:
    page.goto(f"{url}#retrieve?q=What+are+the+benefits+of+renewable+energy")
    page.locator(".level.read .box").first.wait_for()


def _pipelines(page: Page, url: str) -> None:
    page.goto(f"{url}#pipelines")
    page.get_by_role("button", name="Rank twice, keep the best").click()
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator(".result-line").wait_for()
    page.get_by_role("button", name="Rankings").click()
    page.get_by_text("Kendall").first.wait_for()


if __name__ == "__main__":
    main()
