"""Draw the pictures of an evaluation's report: the comparison, and a case on a wide screen and on a phone.

The runs are made up, their verdicts are real. It needs Chromium and Playwright.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from evaluation import evaluate, write_html
from evaluation.cases.case_result import CaseResult, describe_run
from tests.fakes.chromium import open_chromium

MODELS = {"local": (0.4, 5200), "ollama:qwen3:4b": (0.85, 3100), "ollama:llama3.2": (0.65, 1900)}
"""Share of good runs, and usual milliseconds of a run."""
BRANCHES = ("north", "south", "harbour", "park", "castle", "station", "market", "river")
SHORT = "The {branch} branch is open on Tuesday, Thursday and Saturday."
LONG = "Dear readers, the {branch} branch of our library is open for all of you on Tuesday and on Thursday."


def main() -> None:
    """Evaluate the runs, write the report, and photograph it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent)
    folder = parser.parse_args().folder
    with tempfile.TemporaryDirectory() as data, open_chromium() as browser:
        file = Path(data) / "report.html"
        write_html(file, list_results(), "Library notices: three local models")
        wide = browser.new_page(viewport={"width": 820, "height": 900})
        wide.goto(file.as_uri())
        wide.wait_for_selector("figure.repeats svg")
        wide.locator("#comparison").screenshot(path=folder / "report-compared.png")
        wide.locator("#list button").nth(2).click()
        wide.locator("#list > li").nth(2).screenshot(path=folder / "report-case.png")
        phone = browser.new_page(viewport={"width": 375, "height": 1150}, color_scheme="dark")
        phone.goto(file.as_uri())
        phone.locator("#list button").first.click()
        phone.locator("#list > li").first.evaluate("(row) => row.scrollIntoView()")
        phone.wait_for_timeout(1000)  # the page scrolls smoothly
        phone.screenshot(path=folder / "report-phone.png")


def list_results() -> Iterator[CaseResult]:
    """Yield the results of three trials of each model and each branch."""
    numbers = random.Random(4)  # noqa: S311 - invented runs
    for branch, week in product(BRANCHES, (12, 13, 14)):
        for arm, (quality, milliseconds) in MODELS.items():
            for trial in range(3):
                is_good = numbers.random() < quality
                case = build_case(branch, week, milliseconds * numbers.uniform(0.7, 1.4), is_good=is_good)
                report = evaluate(case)
                yield CaseResult(
                    name=f"{branch} branch, week {week}",
                    arm=arm,
                    trial=trial,
                    status=report.status,
                    basis="checked" if is_good else "unverified",
                    accepted=is_good,
                    correct=is_good,
                    reasons=tuple(report.failures[:1]),
                    report=report.model_dump(mode="json"),
                    **describe_run(case),
                )


def build_case(branch: str, week: int, latency_ms: float, *, is_good: bool) -> dict[str, object]:
    """Build a run that looks up the opening days and announces them, with its contract."""
    days = {"open": ["Tuesday", "Thursday", "Saturday"]}
    args = {"branch": branch if is_good else "main", "week": week}
    output = (SHORT if is_good else LONG).format(branch=branch)
    return {
        "agent_run": {
            "input": f"Announce when the {branch} branch is open. Use at most 12 words, and name every day.",
            "final_output": output,
            "tool_calls": [
                {"name": "list_branches", "args": {}, "result": [*BRANCHES]},
                {"name": "look_up_hours", "args": args, "result": days},
            ],
            "latency_ms": latency_ms,
            "total_tokens": 420,
        },
        "checks": [{"check": "word_count", "max": 12, "quote": "at most 12 words"}],
        "required_content": [{"text": "Saturday"}],
        "expected_trajectory": [{"name": "look_up_hours", "args": {"branch": branch, "week": week}}],
    }


if __name__ == "__main__":
    main()
