"""The checks are as hard to fool as the content rules: the same attacks, written as checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from evaluation import evaluate
from tests.evaluation.attacks.test_attacks import load_attacks

_KINDS = {"required_content": True, "forbidden_content": False}


def write_check(rule: Mapping[str, Any], *, required: bool) -> dict[str, object]:
    if "text" in rule:
        case = {"ignore_case": rule.get("ignore_case", True), "whole_words": rule["text"].isalnum()}
        return {"check": "contains" if required else "excludes", "texts": [rule["text"]], **case}
    if "pattern" in rule:
        return {"check": "regex", "pattern": rule["pattern"], "matches": required}
    if "number" in rule:
        options = {"tolerance": rule.get("tolerance", 0), "present": required}
        return {"check": "states_number", "number": rule["number"], **options}
    return {"check": "schema", "json_schema": rule["json_schema"], "alone": False, "matches": required}


def list_attacks() -> Iterator[object]:
    for parameter in load_attacks():
        case = parameter.values[0].get("case", {})
        rules = [rule for name in _KINDS for rule in case.get(name, [])]
        # A check reads the final output, so attacks through other messages are no attacks on one.
        if rules and {*case} <= {"agent_run", *_KINDS} and {*case.get("agent_run", ())} == {"final_output"}:
            yield parameter


@pytest.mark.parametrize("attack", [*list_attacks()])
def test_a_check_gives_the_verdict_of_the_rule(attack: Mapping[str, Any]) -> None:
    case = attack["case"]
    checks = [write_check(rule, required=_KINDS[name]) for name in _KINDS for rule in case.get(name, [])]
    status = evaluate({"agent_run": case["agent_run"], "checks": checks}).status

    accepted = attack["status"]
    assert status in (accepted if isinstance(accepted, list) else [accepted])
