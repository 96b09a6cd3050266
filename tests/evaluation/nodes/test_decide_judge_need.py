from evaluation.findings import Finding
from evaluation.nodes.verdict import decide_judge_need
from evaluation.plugins import Plugins
from evaluation.testing import DeterministicJudge
from tests.evaluation.judges.asking import state

JUDGE = Plugins(judge=DeterministicJudge(5))
RUBRIC = {"criteria": [{"name": "clarity"}]}
FINE = Finding("exact_match", "response", True, "critical", "response", "equal")
SLOW = Finding("latency_ms", "operational", False, "warning", "operational", "slow")
WRONG = Finding("trajectory", "trajectory", False, "critical", "trajectory", "missing")
UNSURE = "similarity is neither high nor low"
OPEN = Finding("similarity", "response", None, "warning", "inconclusive", UNSURE)
POLICY = Finding("rule", "audit", False, "critical", "policy", "broken")
HINT = Finding("rule", "audit", False, "warning", "policy", "broken")

SPARED = {"when": "if_checks_pass"}
CONCLUSIVE = "the deterministic checks are conclusive"


def decision(checks=(), plugins=JUDGE, audit=(), **case):
    measured = {**state(**{"keywords": ["off"], **case}), "findings": [*checks, *audit]}
    return decide_judge_need(measured, plugins)["judge_decision"]


def test_the_decision_and_its_reason(subtests):
    for given, needed, reason in [
        ({"rubric": RUBRIC}, True, "a rubric is configured"),
        ({"rubric": RUBRIC, "checks": [WRONG]}, True, "a rubric is configured"),
        ({"subjective_criteria": ["clarity"], "checks": [FINE]}, True, "subjective criteria are configured"),
        (
            {"thresholds": {"judge_score": 3}, "checks": [FINE]},
            True,
            "a threshold on judge_score is configured",
        ),
        ({"checks": [OPEN]}, True, UNSURE),
        ({"checks": [SLOW, OPEN]}, True, UNSURE),
        ({"keywords": []}, True, "the contract contains no check"),
        ({"keywords": [], "checks": [SLOW]}, True, "the contract contains no check"),
        ({"checks": [], "audit": [HINT]}, False, CONCLUSIVE),
        ({"checks": [FINE]}, False, CONCLUSIVE),
        ({"checks": [SLOW]}, False, CONCLUSIVE),
        ({"checks": [OPEN, WRONG]}, False, CONCLUSIVE),
        ({"checks": [OPEN], "audit": [POLICY]}, False, CONCLUSIVE),
        ({"keywords": [], "audit": [POLICY]}, False, CONCLUSIVE),
        ({"rubric": RUBRIC, "judge": SPARED, "checks": [FINE, SLOW]}, True, "a rubric is configured"),
        ({"rubric": RUBRIC, "judge": SPARED, "checks": [WRONG]}, False, CONCLUSIVE),
        ({"rubric": RUBRIC, "judge": SPARED, "audit": [POLICY]}, False, CONCLUSIVE),
        ({"subjective_criteria": [], "checks": [FINE]}, False, CONCLUSIVE),
    ]:
        with subtests.test(given=given):
            assert decision(**given) == {"needed": needed, "called": False, "reason": reason}


def test_without_a_judge_only_what_was_asked_for_by_name_needs_one(subtests):
    for given, needed, reason in [
        ({"checks": [OPEN]}, False, f"{UNSURE}, and no judge is configured"),
        ({"keywords": []}, False, "the contract contains no check, and no judge is configured"),
        ({"rubric": RUBRIC}, True, "a rubric is configured"),
        ({"subjective_criteria": ["clarity"]}, True, "subjective criteria are configured"),
    ]:
        with subtests.test(given=given):
            decided = decision(plugins=Plugins(), **given)
            assert decided == {"needed": needed, "called": False, "reason": reason}
