"""The page `/docs` in a browser: it shows what the service describes, asks, and loads nothing from elsewhere."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.browser import CHROMIUM
from tests.e2e.program import Program

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed")]


def test_a_newcomer_finds_the_routes_and_tries_one(service: Program, page: Page) -> None:
    page.goto(f"{service.url}/docs")
    expect(page.locator("h3.opblock-tag").first).to_contain_text("Ask")
    page.locator("#operations-Service-get_health .opblock-summary-control").click()
    page.get_by_role("button", name="Try it out").click()
    page.get_by_role("button", name="Execute").click()

    expect(page.locator("#operations-Service-get_health .live-responses-table")).to_contain_text("llm_ready")
