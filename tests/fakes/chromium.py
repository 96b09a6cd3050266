"""Debian's Chromium, driven by Playwright, for the tests of pages."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def open_chromium() -> Iterator[Any]:
    """Start the browser of the system; skip the test if there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        pytest.skip("there is no Chromium; install it to test the pages (apt-get install chromium)")
    with playwright.sync_playwright() as driver:
        # Without a sandbox, because root, as containers have it, cannot make one.
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()
