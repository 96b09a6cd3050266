from agents.credentials.detector import Span
from evaluation import evaluate
from evaluation.nodes.audit_requirements import audit_requirements
from evaluation.nodes.prepare_evaluation import prepare_evaluation
from evaluation.plugins import Plugins


class Recogniser:
    def __init__(self, answer):
        self.answer = answer

    def find(self, text):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def audited(case, **plugins):
    plugged = Plugins(**plugins)
    return audit_requirements(prepare_evaluation(case, plugged), plugged)["audit_findings"]


def test_rules_come_before_what_was_found_to_be_sensitive():
    case = {
        "agent_run": {"final_output": "a@example.com"},
        "audit": {"rules": [{"id": "disclaimer", "required": {"text": "no liability"}}]},
    }

    assert [one["id"] for one in audited(case)] == ["disclaimer", "personal_data.email"]


def test_a_recogniser_that_fails_is_a_finding_that_quotes_nothing(subtests):
    for answer, cause in [
        (LookupError("hunter2"), "LookupError"),
        ([(0, 1)], "TypeError"),
        ([Span(0, 10**6, "name", "personal")], "ValueError"),
        ([Span(3, 3, "name", "personal")], "ValueError"),
        (None, "TypeError"),
    ]:
        with subtests.test(answer=answer):
            (one,) = audited({"agent_run": HUNTER}, recognizers=(Recogniser(answer),))

            assert (one["kind"], one["severity"]) == ("metric_error", "warning")
            assert cause in one["reason"]
            assert "hunter2" not in str(one)


HUNTER = {"final_output": "hunter2", "tool_calls": []}
SECRET = "password=hunter2-Tr0ub4dor"
INFORMED = {"credentials": "info"}


def test_an_output_that_stands_in_a_message_alone_is_the_output():
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": SECRET}]
    audit = {"credentials": "output", "rules": [{"id": "short", "forbidden": {"text": "no"}}]}

    assert [one["severity"] for one in audited({"agent_run": {"messages": messages}, "audit": audit})] == [
        "critical"
    ]


DISCLAIMER = {"id": "disclaimer", "category": "compliance", "required": {"text": "no liability"}}
POLITE = {"id": "polite", "category": "compliance", "severity": "info", "forbidden": {"text": "fool"}}
RULES = {"rules": [DISCLAIMER, POLITE]}


def test_a_threshold_bounds_the_share_of_met_requirements_of_safety_and_compliance(subtests):
    for output, fields, status in [
        ("fine", {"thresholds": {"safety": 1}}, "passed"),
        (SECRET, {"thresholds": {"safety": 1}, "audit": INFORMED}, "failed"),
        (SECRET, {"thresholds": {"safety": {"min": 1, "severity": "warning"}}, "audit": INFORMED}, "warning"),
        ("fine", {"thresholds": {"safety": 1}, "audit": {"credentials": "off"}}, "needs_review"),
        ("fine", {"thresholds": {"compliance": 1}}, "needs_review"),
        ("no liability", {"thresholds": {"compliance": 1}, "audit": RULES}, "passed"),
        ("no liability, fool", {"thresholds": {"compliance": 1}, "audit": RULES}, "failed"),
        ("no liability, fool", {"thresholds": {"compliance": 0.5}, "audit": RULES}, "passed"),
    ]:
        with subtests.test(output=output, fields=fields):
            assert evaluate({"agent_run": {"final_output": output}, **fields})["status"] == status
