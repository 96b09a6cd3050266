"""Notebooks show runs and reports as HTML, in which no text is markup."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace
from html.parser import HTMLParser

import pytest

from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract, evaluate
from orchestrator import LangGraphOrchestrator, Result
from orchestrator.persistence import open_store

SCRIPT = (
    '</td></textarea><script>alert(1)</script><img src=x onerror=alert(1)>" style="x {{ 7*7 }} $a$ \ud800'
)
OWN_TAGS = {"div", "em", "strong", "table", "thead", "tbody", "tr", "th", "td"}
OWN_ATTRIBUTES = {"class", "style"}


class Tags(HTMLParser):
    """Collects the names of the tags and of their attributes."""

    def __init__(self, html):
        super().__init__()
        self.names, self.attributes = set(), set()
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        self.attributes.update(name for name, _ in attrs)


def with_script(value):
    """The same value with the script in each of its texts that is no word of ours."""
    if isinstance(value, dict):
        return {key: with_script(each) for key, each in value.items()}
    if isinstance(value, list):
        return [with_script(each) for each in value]
    return SCRIPT if isinstance(value, str) else value


@pytest.fixture
def stored(tmp_path):
    """A run that failed its contract once, and the list of the runs."""
    model = ScriptedChatModel(['{"plan": ["Greet"]}', "Hello to everybody in the world", "Hello, world"])
    with open_store(tmp_path / "runs.sqlite") as store:
        orchestrator = LangGraphOrchestrator.from_model(
            model,
            contract=EvaluationContract(output_length={"max_words": 3}),
            checkpointer=store,
            planning="always",
        )
        orchestrator.run("Greet the world", "greeting")
        yield store.history


@pytest.fixture
def report():
    run = {"input": "Where?", "final_output": "On its way.", "tool_calls": []}
    return evaluate({"agent_run": run, "must_call": ["find_order"], "output_length": {"max_words": 9}})


def test_a_report_shows_its_status_checks_and_alerts(report):
    html = report._repr_html_()

    assert "<strong>failed</strong>" in html
    assert html.count("<table>") == 2
    assert "find_order" in html


def test_a_result_shows_its_output_and_every_attempt(stored):
    html = Result(stored.show("greeting").state)._repr_html_()

    assert "<strong>success</strong>" in html
    assert html.count("Hello, world") == 2
    assert "Hello to everybody in the world" in html


def test_stored_runs_show_themselves_alone_and_in_a_list(stored):
    runs = stored.runs()

    assert "greeting" in stored.show("greeting")._repr_html_()
    assert "1/1" in runs[0]._repr_html_()
    assert "runs: 1" in runs._repr_html_()


def test_no_text_of_a_report_is_markup(report):
    hostile = type(report).model_construct(**with_script(report.model_dump()))

    assert_harmless(hostile._repr_html_())


def test_no_text_of_a_run_is_markup(stored):
    run = stored.show("greeting")
    state = with_script(run.state)
    hostile = {**state, "failure": {"message": SCRIPT}, "question": {"text": SCRIPT}}
    summary = replace(run.summary, **with_script({**asdict(run.summary), "usage": None, "started": None}))

    assert_harmless(Result(hostile)._repr_html_())
    assert_harmless(replace(run, summary=summary, state=hostile)._repr_html_())
    assert_harmless(summary._repr_html_())
    assert_harmless(type(stored.runs())([summary])._repr_html_())


def test_many_rows_and_long_texts_are_shortened(report):
    many = report.model_copy(update={"alerts": report.alerts * 200, "summary": "x" * 10_000})

    html = many._repr_html_()
    assert "and 150 more" in html
    assert len(html) < 50_000


def assert_harmless(html):
    tags = Tags(html)
    assert "&lt;script&gt;alert(1)" in html
    assert "{{ 7*7 }}" in html
    assert tags.names <= OWN_TAGS
    assert tags.attributes <= OWN_ATTRIBUTES
    assert not re.search(r"color\s*:", html)  # the notebook's colours, light or dark
    json.dumps(html, ensure_ascii=False).encode()
