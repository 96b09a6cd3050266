"""The checks are as hard to fool as the content rules: the same attacks, written as checks."""

from collections.abc import Mapping
from typing import Any

import pytest

from evaluation import evaluate
from tests.evaluation.attacks.test_attacks import ATTACKS

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
    return {"check": "schema", "json_schema": rule["json_schema"], "alone": False}


def is_attack_on_checks(attack: Mapping[str, Any]) -> bool:
    case = attack.get("case", {})
    # A check reads the final output, so attacks through other messages are no attacks on one.
    return (
        bool({*case} & {*_KINDS})
        and {*case} <= {"agent_run", *_KINDS}
        and {*case.get("agent_run", ())} == {"final_output"}
    )


def test_a_check_gives_the_verdict_of_the_rule(subtests: pytest.Subtests) -> None:
    for name, attack in ATTACKS.items():
        if not is_attack_on_checks(attack):
            continue
        with subtests.test(name):
            case = attack["case"]
            checks = [
                write_check(rule, required=required)
                for kind, required in _KINDS.items()
                for rule in case.get(kind, [])
            ]
            status = evaluate({"agent_run": case["agent_run"], "checks": checks}).status

            accepted = attack["status"]
            assert status in (accepted if isinstance(accepted, list) else [accepted])
