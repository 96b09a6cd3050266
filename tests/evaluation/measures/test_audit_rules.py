import re

from evaluation.checks import CheckContext
from evaluation.contract.contract import AuditRule
from evaluation.contract.recorded_messages import assistant_parts
from evaluation.measures.audit_rules import AuditedRun, exposure_findings, rule_findings
from evaluation.measures.hosts import Domains, find_hosts
from evaluation.report.report_model import describe_audit_finding
from tests.evaluation.actions import observed

REACTIONS = {"credential": "critical", "personal": "info"}


def found(run, reactions):
    return [*exposure_findings(run, reactions)]


def action(name="search", args=None, kind="tool"):
    return observed(name, args=args, kind=kind)


def findings(rule, output="Order 12345 is in transit.", actions=(), messages=None):
    parts = tuple(map(tuple, assistant_parts(messages)))
    context = CheckContext(output or "", has_output=output is not None, messages=parts)
    audited = AuditedRun(context, messages, [*actions])
    return rule_findings([AuditRule.model_validate({"id": "rule", **rule})], audited)


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
            assert [finding.kind for finding in findings(rule)] == kinds


def test_a_run_without_an_output_leaves_a_content_rule_open(subtests):
    for demand in ["forbidden", "required"]:
        with subtests.test(demand=demand):
            (finding,) = findings({demand: {"text": "x"}}, output=None)

            assert (finding.kind, finding.severity, finding.where) == (
                "missing_data",
                "warning",
                "agent_run.final_output",
            )


def test_a_text_that_is_too_long_for_a_pattern_leaves_the_rule_open():
    (finding,) = findings({"forbidden": {"pattern": "(?:[a-z]{1,500}[0-9]){2}"}}, output="x" * 10_000_000)

    assert finding.kind == "metric_error"


def test_content_is_looked_for_in_the_messages_of_the_assistant():
    rule = {"forbidden": {"text": "secret plan", "where": "assistant_messages"}}
    messages = [
        {"role": "user", "content": "secret plan"},
        {"role": "assistant", "content": "the secret plan"},
    ]

    (finding,) = findings(rule, messages=messages)

    assert finding.where == "agent_run.messages"
    assert findings(rule, messages=messages[:1]) == []


def test_a_finding_says_what_its_rule_says_of_it():
    rule = {
        "category": "compliance",
        "severity": "warning",
        "owner": "legal",
        "recommended_action": "Ask legal.",
    }

    (finding,) = findings({**rule, "forbidden": {"text": "transit"}})

    assert describe_audit_finding(finding) == {
        "id": "rule",
        "category": "compliance",
        "kind": "policy",
        "severity": "warning",
        "metric": "audit",
        "reason": 'Rule rule: Do not use "transit"; the text has "transit". Ask legal.',
        "where": "agent_run.final_output",
        "evidence": {
            "sha256": finding.evidence["sha256"],
            "type": "string",
            "length": 26,
            "excerpt": "Order 12345 is in transit.",
        },
        "owner": "legal",
        "recommended_action": "Ask legal.",
    }


def test_each_tool_that_may_not_be_used_is_one_finding_at_its_first_call(subtests):
    for rule, places in [
        ({"forbidden_tools": ["refund"]}, ["agent_run.tool_calls[1]"]),
        ({"allowed_tools": ["search"]}, ["agent_run.tool_calls[1]"]),
        ({"allowed_tools": ["search", "refund"]}, []),
        ({"allowed_tools": []}, ["agent_run.tool_calls[0]", "agent_run.tool_calls[1]"]),
    ]:
        with subtests.test(rule=rule):
            actions = [action("search"), action("refund"), action("refund"), action("boss", kind="handoff")]

            assert [finding.where for finding in findings(rule, actions=actions)] == places


def test_a_tool_finding_counts_the_calls():
    (finding,) = findings({"forbidden_tools": ["refund"]}, actions=[action("refund"), action("refund")])

    assert finding.reason == "Rule rule: The tool refund was called 2 times; do not call it"


def test_addresses_outside_the_allowed_domains_are_found_in_output_and_arguments():
    rule = {"allowed_domains": ["example.com"]}
    actions = [
        action(args={"url": "https://docs.example.com/a"}),
        action(args={"deep": [{"url": "see http://evil.test/x"}], "https://b.test": 1}),
    ]

    results = findings(rule, "at https://example.com or https://other.test", actions)

    assert [(finding.where, finding.reason) for finding in results] == [
        (
            "agent_run.final_output",
            "Rule rule: The output contains addresses outside the allowed domains: other.test; remove them",
        ),
        (
            "agent_run.tool_calls[1].args",
            (
                "Rule rule: The arguments of tool call 2 contain addresses outside the allowed domains: "
                "evil.test, b.test; remove them"
            ),
        ),
    ]


def test_hosts_are_read_as_a_browser_reads_them(subtests):
    for text, hosts in [
        ("https://example.com/x?y=http://b.test", ["example.com", "b.test"]),
        ("https:\\\\evil.test\\@good.test", ["evil.test"]),
        ("https://evil.test\\@good.test", ["evil.test"]),
        ("https://evil.test#@good.test", ["evil.test"]),
        ("https://evil\u3002test", ["evil.test"]),
        ("<https://a.test>, see.", ["a.test"]),
        ("at https://a.test.", ["a.test"]),
        ("http://[2001:db8::1]:80/x", ["[2001:db8::1]"]),
        ("ftp://files.test", ["files.test"]),
        ('src="//cdn.test/x.js"', ["cdn.test"]),
        ("www.shop.test/x", ["www.shop.test"]),
        ("https://\u4f8b\u5b50.test/x", ["xn--fsqu00a.test"]),
        ("https://", []),
        ("/\\evil.test", ["evil.test"]),
        ("\\\\evil.test\\share", ["evil.test"]),
        ("https://good.test\n.evil.test", ["good.test", "good.test.evil.test"]),
        ("https://good.test/a\nhttps://good.test/b", ["good.test", "good.test"]),
        ("https://good.test\nNext line", ["good.test"]),
        ("**evil.test:8080/path**", ["evil.test"]),
        ("evil\u3002test/path", ["evil.test"]),
        ("https://ev\u200bil.test", ["evil.test"]),
        ("HTTPS://EVIL.TEST.:443/", ["evil.test"]),
        ("http://0x7f.1/", ["127.0.0.1"]),
        ("https://g\u043eod.test", ["xn--god-sed.test"]),
        ("https://good.test\u00a0is here", ["good.test"]),
        ("<a href='https://good.test'>me@evil.test</a>", ["good.test"]),
        ("node.js/express, src/main.py/x, 10.0.0.1/24, e.g./i.e.", []),
        ("port http:8080, and https: or http://", []),
        ("1/2 and a.b.c", []),
        ("mailto:a@b.test", []),
        ("", []),
    ]:
        with subtests.test(text=text):
            assert [*find_hosts(text)] == hosts


def test_a_subdomain_is_within_its_domain(subtests):
    for host, domain, within in [
        ("example.com", "example.com", True),
        ("a.b.example.com", "example.com", True),
        ("example.com", "*.example.com", True),
        ("notexample.com", "example.com", False),
        ("example.com.evil.test", "example.com", False),
        ("b\u00fccher.test", "xn--bcher-kva.test", True),
        ("EXAMPLE.com", "example.COM", True),
        ("example.com", "example.com:8080/", True),
        ("a..b", "b", True),
        ("x" * 70 + ".test", "test", True),
    ]:
        with subtests.test(host=host, domain=domain):
            assert (host in Domains([domain])) is within


def test_every_place_has_one_finding_a_kind_with_the_number_of_values():
    run = {
        "input": "a@example.com",
        "final_output": "mail a@example.com, b@example.com or a@example.com",
        "tool_calls": [
            "search",
            {
                "name": "login",
                "args": {"password": "hunter2"},
                "result": "c@example.com",
                "error": "d@example.com",
            },
            {"name": "t", "args": '{"password": "hunter2"}'},
        ],
        "messages": [
            {"role": "assistant", "content": "call +49 170 1234567"},
            {"role": "user", "content": "what I chose to tell: +49 170 7654321, password=hunter2"},
        ],
        "plan": ["e@example.com"],
    }

    results = found(run, REACTIONS)

    assert [
        (
            finding.name,
            finding.where,
            finding.severity,
            re.search(r"\(\d+", finding.reason)[0] + ")",
        )
        for finding in results
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
    (finding,) = found({"tool_calls": [{"name": "t", "args": {"password": "hunter2"}}]}, REACTIONS)

    assert finding.evidence["excerpt"] == '{"password":"[password]"}'
    assert finding.category == "safety"


def test_what_follows_from_an_exposure_is_configured(subtests):
    for credential, personal, severities in [
        ("critical", "info", ["critical", "info"]),
        ("warning", "off", ["warning"]),
        ("off", "critical", ["critical"]),
        ("off", "off", []),
    ]:
        with subtests.test(credential=credential, personal=personal):
            run = {"final_output": "password=hunter2, a@example.com"}

            results = found(run, {"credential": credential, "personal": personal})

            assert [finding.severity for finding in results] == severities
