import json
import re
from xml.etree import ElementTree as ET

import pytest
import yaml
from typer.testing import CliRunner

import orchestrator.study.case_items  # noqa: F401 - pytester forgets what is imported later
from orchestrator.cli.app import app
from tests.evaluation.reporting.test_case_page import unpack

pytest_plugins = ["pytester"]

SHOP = """
def answer(task):
    if "atlas" in task:
        return "It costs 12.5 euros."
    return "Blue waves on the sand" if "poem" in task else "It costs 99 euros."
"""
PRICE = {"required_content": [{"number": 12.5}]}
CASES = [
    {"name": "verified", "task": "What does the atlas cost?", "contract": PRICE},
    {"name": "clean", "task": "Write a poem."},
    {"name": "failed", "task": "What does the globe cost?", "contract": PRICE},
    {"name": "open", "task": "Look up the price.", "contract": {"must_call": ["price_of"]}},
]
RUNS, ACCEPTED, VERIFIED = 8, 4, 2


@pytest.fixture
def shop(pytester):
    pytester.makepyfile(my_shop=SHOP)
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function")
    cases = {"version": 1, "target": "my_shop:answer", "defaults": {"repeat": 2}, "cases": CASES}
    (pytester.path / "cases.yaml").write_text(yaml.safe_dump(cases))
    return pytester


def call(*arguments):
    return CliRunner().invoke(app, arguments, catch_exceptions=False)


def test_all_surfaces_count_the_runs_of_one_evaluation_alike(shop, subtests):
    written = ["--out", "a.jsonl", "--junit", "a.xml", "--html", "a.html", "--save-baseline", "a.yaml"]
    ended = call("evaluate", "cases.yaml", "--json", *written)
    (shop.path / "b.jsonl").write_bytes((shop.path / "a.jsonl").read_bytes())
    [arm] = unpack((shop.path / "a.html").read_text())["arms"]
    compared = json.loads(call("compare", "a.jsonl", "b.jsonl", "--json").stdout)["arms"]
    bounds = "{value:.4f} ({low:.4f} to {high:.4f})".format(**arm["pass_k"][0])
    with subtests.test("terminal"):
        assert f"{VERIFIED} of {RUNS} runs verified (2 checked)" in ended.stderr
        assert f"{ACCEPTED - VERIFIED} of {RUNS} runs: no defect found" in ended.stderr
        assert f"pass^1 {bounds}, {len(CASES)} cases" in ended.stderr
    with subtests.test("JSON"):
        lines = [json.loads(line) for line in ended.stdout.splitlines()]
        sums = [sum(line[name] for line in lines) for name in ("accepted", "verified")]
        assert sums == [ACCEPTED, VERIFIED]
    with subtests.test("page"):
        assert (arm["runs"], arm["accepted"], arm["verified"]) == (RUNS, ACCEPTED, VERIFIED)
    with subtests.test("comparison"):
        assert [{**each, "arm": "", "difference": None} for each in compared] == [arm, arm]
        rows = call("compare", "a.jsonl", "b.jsonl").stdout
        short = "{value:.2f} ({low:.2f} to {high:.2f})".format(**arm["pass_k"][0])
        assert re.search(rf"success +{re.escape(short)}", rows)
        assert re.search(rf"accepted runs +{ACCEPTED} of {RUNS}", rows)
    with subtests.test("JUnit"):
        suite = ET.parse(shop.path / "a.xml").getroot()
        assert (suite.attrib["tests"], suite.attrib["failures"]) == (str(RUNS), str(RUNS - ACCEPTED))
        assert len(suite.findall("*/system-out")) == ACCEPTED - VERIFIED
    with subtests.test("baseline"):
        cases = yaml.safe_load((shop.path / "a.yaml").read_text())["cases"].values()
        assert sum(case["passed"] for case in cases) == ACCEPTED
    with subtests.test("pytest"):
        options = ("-p", "no:langsmith", "-p", "no:cacheprovider", "-p", "no:hypothesispytest")
        tested = shop.runpytest_inprocess(*options, "--evalset", "cases.yaml")
        tested.assert_outcomes(passed=ACCEPTED, failed=RUNS - ACCEPTED)
        tested.stdout.fnmatch_lines([f"{ACCEPTED - VERIFIED} of {ACCEPTED} passed: no defect found*"])


def test_a_case_that_never_succeeds_is_named_before_the_figures(shop):
    call("evaluate", "cases.yaml", "--out", "a.jsonl")
    (shop.path / "b.jsonl").write_bytes((shop.path / "a.jsonl").read_bytes())
    ended = call("compare", "a.jsonl", "b.jsonl")
    assert "a: 0 of 4 runs are accepted in 2 of 4 cases: failed, open" in ended.stderr
