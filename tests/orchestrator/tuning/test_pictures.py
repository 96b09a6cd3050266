"""The pictures of a search."""

from __future__ import annotations

import pytest

from orchestrator.retry.attempts import Attempt
from orchestrator.retry.policy import RetryPolicy
from orchestrator.tuning.candidates import Candidate
from orchestrator.tuning.pictures import compute_survival, list_rows, render_html, write_png
from orchestrator.tuning.replay.attempts import RecordedRun, RecordedStep
from orchestrator.tuning.spec import TuneSpec
from orchestrator.tuning.trials import Trial
from orchestrator.tuning.tune_result import build_result

HOSTILE = "</script><img src=x onerror=alert(1)>$x^{$"


def run(*kinds):
    attempts = [
        Attempt(number=n, outcome="failed" if kind else "validated", kinds=(kind,) if kind else ())
        for n, kind in enumerate(kinds, 1)
    ]
    return RecordedRun("task", (RecordedStep(tuple(attempts)),))


@pytest.fixture
def result():
    spec = TuneSpec(tasks="tasks.yaml", policies={HOSTILE: {"max_retries": 1}})
    tasks = {str(n): {"success": float(n % 2), "tokens": 100.0} for n in range(20)}
    trials = [
        Trial(Candidate("default", "local", RetryPolicy()), tasks),
        Trial(Candidate(HOSTILE, "local", RetryPolicy(max_retries=1)), tasks),
    ]
    return build_result(spec, trials, None, None, [run("format", None), run("content", "content")])


def test_survival_falls_with_each_attempt_that_passes_and_counts_those_given_up_until_then():
    points = compute_survival([run("format", None), run("format", "format", None), run("format", "format")])
    shares = {point.attempts: (point.share, point.at_risk) for point in points if point.group == "format"}
    assert shares == {1: (1.0, 3), 2: (pytest.approx(2 / 3), 3), 3: (0.0, 1)}


def test_survival_is_told_by_the_kind_of_the_first_failure():
    points = compute_survival([run("format", None), run("content", "format"), run(None)])
    assert {point.group: point.share for point in points if point.attempts == 2} == {
        "all failures": 0.5,
        "format": 0.0,
        "content": 1.0,
    }


def test_the_page_holds_every_policy_and_nothing_of_them_as_an_element(result):
    page = render_html(result)
    assert "default" in page
    assert "<img" not in page
    assert 'data-chart="front"' in page
    assert 'data-chart="steps"' in page


def test_the_picture_is_a_png_whatever_a_policy_is_called(result, tmp_path):
    write_png(result, tmp_path / "report.png")
    assert (tmp_path / "report.png").read_bytes().startswith(b"\x89PNG")


def test_a_row_says_whether_a_policy_is_on_the_front(result):
    assert [row["note"] for row in list_rows(result)] == ["on the front", ""]
