"""Results of an evaluation as one HTML file, without a browser: what it holds, and how large it is."""

import base64
import gzip
import hashlib
import json
import re

from evaluation.reporting.case_page import render_results
from evaluation.texts.normal import show_hidden
from tests.evaluation.reporting.results import evaluate_result, notice, stored

HOSTILE = "</script><script>alert(1)</script><!-- <img src=x onerror=alert(1)> \u2028 \" ' `"


def unpack(page):
    [packed] = re.findall(r'<script type="application/gzip" id="data">([A-Za-z0-9+/=]+)</script>', page)
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def test_the_page_holds_every_result_with_its_run_contract_and_report():
    result = evaluate_result(notice())
    [case] = unpack(render_results([result]))["cases"]
    [attempt] = case["attempts"]

    assert case["name"] == result.name
    assert attempt["agent_run"] == result.agent_run
    assert attempt["expected"] == result.expected
    assert attempt["report"] == result.report
    assert [each["name"] for each in attempt["actions"]["steps"]] == ["look_up_hours"]
    assert [each["name"] for each in attempt["actions"]["actions"]] == ["list_branches", "look_up_hours"]


def test_nothing_of_the_results_stands_in_the_page_as_text():
    page = render_results([evaluate_result(notice(HOSTILE), name=HOSTILE, arm=HOSTILE)], HOSTILE)

    assert "alert(1)" not in page
    assert unpack(page)["title"] == show_hidden(HOSTILE)


def test_a_value_that_json_does_not_have_does_not_break_the_page(subtests):
    for value, shown in [(float("nan"), None), ("\ud83d", "[U+D83D]")]:
        with subtests.test(value=value):
            result = stored(agent_run={"final_output": "a", "latency_ms": value})
            [case] = unpack(render_results([result]))["cases"]

            assert case["attempts"][0]["agent_run"]["latency_ms"] == shown


def test_the_policy_of_the_page_allows_its_own_scripts_alone():
    page = render_results([evaluate_result(notice())])
    [policy] = re.findall(r'content="(default-src[^"]*)"', page)
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    sources = " ".join(f"'sha256-{digest}'" for digest in digests)

    assert policy.startswith("default-src 'none'; ")
    assert policy.endswith(f"script-src {sources}")
    assert len(scripts) == 6
