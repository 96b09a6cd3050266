"""Reports as self-contained HTML."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from evaluation.reporting.page import Chart, DataTable, Listing, render_page

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>&\u2028{{ 7*7 }}"


class Reader(HTMLParser):
    """Collects the elements, their attributes and the scripts of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.scripts, self.text, self._script = [], [], [], False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._script = tag == "script"
        if self._script:
            self.scripts.append("")

    def handle_endtag(self, tag):
        self._script = False

    def handle_data(self, data):
        if self._script:
            self.scripts[-1] += data
        else:
            self.text.append(data)


def chart(data):
    return Chart("front", HOSTILE, HOSTILE, data)


def render_hostile():
    table = DataTable(HOSTILE, [HOSTILE], [[HOSTILE]])
    return render_page(HOSTILE, [HOSTILE], [chart({"name": HOSTILE})], [table], [Listing(HOSTILE, HOSTILE)])


def test_nothing_of_the_data_becomes_an_element():
    page = Reader(render_hostile())
    assert "img" not in {tag for tag, _ in page.tags}
    assert len(page.scripts) == 4
    assert all("alert(1)" in text for text in page.text if "onerror" in text)


def test_the_data_of_a_chart_is_read_back_as_it_was():
    page = Reader(render_hostile())
    assert json.loads(page.scripts[0]) == {"name": HOSTILE}


def test_nothing_is_loaded_from_a_network():
    page = Reader(render_hostile())
    assert not [attrs for _, attrs in page.tags if {"src", "href"} & attrs.keys()]


def test_the_policy_of_the_page_allows_its_own_scripts_alone():
    source = render_hostile()
    [policy] = re.findall(r'content="(default-src[^"]*)"', source)
    scripts = [script for script in Reader(source).scripts if not script.startswith("{")]
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]

    assert policy.startswith("default-src 'none'")
    allowed = [f"'sha256-{each}'" for each in hashes]
    assert policy.endswith(f"script-src {' '.join(allowed)}")


def test_a_page_without_charts_has_no_script():
    page = Reader(render_page("Title", ["Text"]))
    assert page.scripts == []


def test_a_chart_takes_no_number_that_is_none():
    with pytest.raises(ValueError, match="JSON"):
        render_page("Title", charts=[chart({"x": float("nan")})])
