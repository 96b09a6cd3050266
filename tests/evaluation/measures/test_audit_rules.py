import re

from evaluation import evaluate
from evaluation.report.redaction import build_excerpt
from tests.evaluation.messages import said, user


def audit(run, **audit):
    return evaluate({"agent_run": run, "audit": audit}).audit_findings


def find_breaches(rule, run=None):
    said = {"final_output": "Order 12345 is in transit.", **(run or {})}
    return audit(said, rules=[{"id": "rule", **rule}], personal_data="off")


def test_content_is_required_or_forbidden(subtests):
    for rule, kinds in [
        ({"forbidden": {"text": "transit"}}, ["policy"]),
        ({"forbidden": {"text": "refund"}}, []),
        ({"forbidden": {"pattern": "[0-9]{5}"}}, ["policy"]),
        ({"forbidden": {"number": 12345}}, ["policy"]),
        ({"required": {"text": "no liability"}}, ["policy"]),
        ({"required": {"text": "in TRANSIT"}}, []),
        ({"required": {"json_schema": {"type": "object"}}}, ["policy"]),
    ]:
        with subtests.test(rule=rule):
            assert [each["kind"] for each in find_breaches(rule)] == kinds


def test_content_is_looked_for_in_the_messages_of_the_assistant():
    rule = {"forbidden": {"text": "secret plan", "where": "assistant_messages"}}
    messages = [user("secret plan"), said("the secret plan")]

    (finding,) = find_breaches(rule, {"messages": messages})

    assert finding["where"] == "agent_run.messages"
    assert find_breaches(rule, {"messages": messages[:1]}) == []


def test_a_finding_says_what_its_rule_says_of_it():
    rule = {
        "category": "compliance",
        "severity": "warning",
        "owner": "legal",
        "recommended_action": "Ask legal.",
    }

    (finding,) = find_breaches({**rule, "forbidden": {"text": "transit"}})

    assert finding == {
        **rule,
        "id": "rule",
        "kind": "policy",
        "metric": "audit",
        "reason": 'Rule rule: Do not use "transit"; the text has "transit". Ask legal.',
        "where": "agent_run.final_output",
        "evidence": build_excerpt("Order 12345 is in transit."),
    }


def test_each_tool_that_may_not_be_used_is_one_finding_at_its_first_call(subtests):
    for rule, places in [
        ({"forbidden_tools": ["refund"]}, ["agent_run.tool_calls[1]"]),
        ({"allowed_tools": ["search"]}, ["agent_run.tool_calls[1]"]),
        ({"allowed_tools": ["search", "refund"]}, []),
        ({"allowed_tools": []}, ["agent_run.tool_calls[0]", "agent_run.tool_calls[1]"]),
    ]:
        with subtests.test(rule=rule):
            calls = ["search", "refund", "refund", {"name": "boss", "kind": "handoff"}]

            assert [each["where"] for each in find_breaches(rule, {"tool_calls": calls})] == places


def test_every_place_has_one_finding_a_kind_with_the_number_of_values():
    mails = {"result": "c@example.com", "error": "d@example.com"}
    run = {
        "input": "a@example.com",
        "final_output": "mail a@example.com, b@example.com or a@example.com",
        "tool_calls": [
            "search",
            {"name": "login", "args": {"password": "hunter2"}, **mails},
            {"name": "t", "args": '{"password": "hunter2"}'},
        ],
        "messages": [
            said("call +49 170 1234567"),
            user("what I chose to tell: +49 170 7654321, password=hunter2"),
        ],
        "plan": ["e@example.com"],
    }

    assert [
        (each["id"], each["where"], each["severity"], re.search(r"\(\d+", each["reason"])[0] + ")")
        for each in audit(run)
        if each["category"] != "defects"
    ] == [
        ("credentials.password", "agent_run.tool_calls[1].args", "critical", "(1)"),
        ("credentials.password", "agent_run.tool_calls[2].args", "critical", "(1)"),
        ("personal_data.email", "agent_run.final_output", "info", "(2)"),
        ("personal_data.email", "agent_run.tool_calls[1].result", "info", "(1)"),
        ("personal_data.email", "agent_run.tool_calls[1].error", "info", "(1)"),
        ("personal_data.phone", "agent_run.messages[0]", "info", "(1)"),
        ("personal_data.email", "agent_run.plan", "info", "(1)"),
    ]


def test_an_exposure_is_quoted_redacted():
    (finding,) = audit({"tool_calls": [{"name": "t", "args": {"password": "hunter2"}}]}, defects="off")

    assert finding["evidence"]["excerpt"] == '{"password":"[password]"}'
    assert finding["category"] == "safety"


def test_what_follows_from_an_exposure_is_configured(subtests):
    for credentials, personal, severities in [
        ("critical", "info", ["critical", "info"]),
        ("warning", "off", ["warning"]),
        ("off", "critical", ["critical"]),
        ("off", "off", []),
    ]:
        with subtests.test(credentials=credentials, personal=personal):
            run = {"final_output": "password=hunter2, a@example.com"}
            found = audit(run, credentials=credentials, personal_data=personal)

            assert [each["severity"] for each in found] == severities
