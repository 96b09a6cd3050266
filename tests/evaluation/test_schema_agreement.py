"""The models refuse wrong contracts, and their JSON Schemas accept all that they accept."""

import random

import jsonschema_rs
from hypothesis import given
from hypothesis import strategies as st

from evaluation import EvaluationCase, evaluate
from evaluation.contract.contract import EvaluationContract
from evaluation.errors import ContractError

CONTRACT = jsonschema_rs.validator_for(EvaluationContract.model_json_schema())
CASE = jsonschema_rs.validator_for(EvaluationCase.model_json_schema())


def is_accepted(contract):
    try:
        EvaluationContract(**contract)
    except ContractError:
        return False
    return True


def criteria(*names):
    return [{"name": name} for name in names]


ACCEPTED = [
    {},
    {"reference_output": None, "keywords": ["a"], "owner": "team"},
    {"thresholds": {"latency_ms": 5, "rouge_1": {"min": 0.5}, "exact_match": True}},
    {"thresholds": {"latency_ms": {"min": None, "max": 5, "severity": "info", "owner": "team"}}},
    {"expected_trajectory": ["find", {"name": "read", "args": {"id": 1}}, {"any_of": ["a", {"name": "b"}]}]},
    {"expected_trajectory": [{"name": "a", "any_of": []}, {"name": None, "any_of": ["a"]}]},
    {"expected_trajectory": [], "trajectory_match_mode": "exact"},
    {"trajectory": {"arguments": {"match": "named", "names": ["id"]}}},
    {"trajectory": {"tools": {"a": {"match": "named", "names": ["x"]}}}},
    {"trajectory": {"arguments": {"match": "exact", "names": []}}},
    {"required_content": [{"text": "a"}, {"pattern": "(?i)a"}, {"json_schema": True}, {"number": 1}]},
    {"required_content": [{"text": "a", "pattern": None, "number": None}]},
    {"forbidden_content": [{"pattern": r"[(?=]"}, {"pattern": r"\(?=a"}, {"pattern": r"\p{Han}+"}]},
    {"forbidden_content": [{"pattern": "a"}]},
    {"checks": [{"check": "word_count", "min": 1, "max": 3, "exactly": None}, {"check": "json"}]},
    {"checks": [{"check": "contains", "texts": ["a"], "quote": "a", "severity": "info"}]},
    {"checks": [{"check": "regex", "pattern": "(?i)a"}, {"check": "schema", "json_schema": {}}]},
    {"checks": [{"check": "occurrences", "text": "a", "exactly": 0}]},
    {"rubric": {"criteria": criteria("a", "b"), "pass_score": 3, "scale": {"min": 0, "max": 10}}},
    {"rubric": {"criteria": ["a", {"name": "b"}], "scale": {"min": 1, "max": 5}}},
    {"rubric": {"criteria": ["a"], "scale": {"min": 0}, "pass_score": 3}},
    {"subjective_criteria": ["clarity"], "judge": {"on_failure": "failed"}},
    {"audit": {"rules": [{"id": "a", "forbidden_tools": ["x"]}], "credentials": "off"}},
    {"audit": {"rules": [{"id": "a", "allowed_tools": [], "required": None}]}},
    {"drift": {"tolerances": {"x": {"relative": 0.1}}}},
]
REFUSED = [
    {"audit": {"rules": [{"id": "a", "forbidden_tools": []}]}},
    {"audit": {"rules": [{"id": "a", "forbidden_tools": [" "]}]}},
    {"thresholds": {"latency_ms": {}}},
    {"thresholds": {"latency_ms": "fast"}},
    {"thresholds": {"latency_ms": {"max": 5, "severity": "high"}}},
    {"expected_trajectory": [{"args": {}}]},
    {"expected_trajectory": [{"name": "a", "any_of": ["b"]}]},
    {"expected_trajectory": [{"any_of": []}]},
    {"expected_trajectory": ["  "]},
    {"expected_trajectory": [{"any_of": [{"args": {}}]}]},
    {"trajectory": {"arguments": {"match": "named"}}},
    {"trajectory": {"tools": {"a": {"match": "named"}}}},
    {"required_content": [{}]},
    {"required_content": [{"text": "a", "number": 5}]},
    {"required_content": [{"text": " \n"}]},
    {"required_content": [{"pattern": "(?=a)b"}]},
    {"required_content": [{"pattern": "[a"}]},
    {"required_content": [{"json_schema": {"type": 5}}]},
    {"checks": ["json"]},
    {"checks": [{"check": "word_count", "min": 1, "exactly": 1}]},
    {"checks": [{"check": "contains", "texts": [" "]}]},
    {"checks": [{"check": "json", "roots": "any"}]},
    {"checks": [{"check": "regex", "pattern": "(?=a)"}]},
    {"checks": [{"check": "schema", "json_schema": {"type": 5}}]},
    {"rubric": {"criteria": []}},
    {"rubric": {"criteria": [3]}},
    {"rubric": {"criteria": ["a"], "scale": [1]}},
    {"rubric": {"criteria": ["a"], "scale": ["low", "high"]}},
    {"rubric": {"criteria": criteria("a"), "pass_score": 6}},
    {"rubric": {"criteria": criteria("a"), "scale": {"min": 5}}},
    {"rubric": {"criteria": [{"name": "a", "weight": 0}]}},
    {"audit": {"rules": [{"id": "a"}]}},
    {"audit": {"rules": [{"id": "a", "forbidden_tools": ["b"], "allowed_tools": ["c"]}]}},
    {"drift": {"deviations": 0}},
    {"drift": {"tolerances": {"x": {"relative": -1}}}},
    {"judge": {"on_failure": "passed"}},
    {"treshold": {}},
    # What contradicts itself, which the schema cannot say.
    {"thresholds": {"latency_ms": {"min": 2, "max": 1}}},
    {"checks": [{"check": "word_count", "min": 5, "max": 4}]},
    {"rubric": {"criteria": criteria("a", "a")}},
    {"rubric": {"criteria": ["a"], "scale": {"min": 5, "max": 1}}},
    {"rubric": {"criteria": criteria("a"), "scale": {"min": 3, "max": 3}}},
    {"rubric": {"criteria": criteria("a"), "pass_score": 9, "scale": {"min": 1, "max": 7}}},
    {"required_content": [{"pattern": r"(a)\1"}]},
    {"expected_trajectory": [{"name": "a", "arguments": {"match": "named", "names": ["b"]}}]},
    {"expected_trajectory": [{"agent": "ann", "any_of": ["a"]}]},
]


def test_an_accepted_contract_fulfils_the_schema(subtests):
    for contract in ACCEPTED:
        with subtests.test(contract=contract):
            assert (is_accepted(contract), CONTRACT.is_valid(contract)) == (True, True)
            assert CASE.is_valid({"agent_run": {"final_output": "x"}, **contract})


def test_a_wrong_contract_is_refused(subtests):
    for contract in REFUSED:
        with subtests.test(contract=contract):
            assert not is_accepted(contract)


def test_the_match_modes_are_listed():
    assert not CONTRACT.is_valid({"trajectory_match_mode": "fuzzy"})


def test_the_evaluation_accepts_a_run_that_is_well_formed(subtests):
    for fields, accepted in [
        ({"input": "a", "user_input": "a"}, False),
        ({"user_input": "a"}, True),
        ({"timestamps": {"start": "09:00", "end": 1.5}}, True),
        ({"timestamps": ["09:00", 3]}, True),
        ({"timestamps": "09:00"}, False),
    ]:
        with subtests.test(fields=fields):
            case = {"agent_run": {"final_output": "x", **fields}}

            assert (evaluate(case).status != "invalid") is accepted
            assert CASE.is_valid(case) or not accepted


VALUES = [None, True, 0, 1, -1, 2.5, "", "a", "critical", "(", [], ["a"], [[]], {}, {"name": "a"}, {"min": 1}]


def mutate(value, random_source):
    if not isinstance(value, dict | list) or not value or random_source.random() < 0.15:
        return random_source.choice(VALUES)
    if isinstance(value, list):
        place = random_source.randrange(len(value))
        changed = mutate(value[place], random_source)
        return [*value[:place], *([] if random_source.random() < 0.2 else [changed]), *value[place + 1 :]]
    place = random_source.choice(list(value))
    rest = {key: part for key, part in value.items() if key != place}
    return rest if random_source.random() < 0.25 else {**rest, place: mutate(value[place], random_source)}


def mutated_contract(seed):
    source = random.Random(seed)
    contract = {**source.choice(ACCEPTED), **source.choice([*ACCEPTED, *REFUSED])}
    changed = mutate(contract, source)
    return changed if isinstance(changed, dict) else contract


@given(st.integers(min_value=0))
def test_the_schema_refuses_nothing_that_the_evaluation_accepts(seed):
    contract = mutated_contract(seed)
    # A match mode that is not supported is a finding of the evaluation, and no reason to refuse the contract.
    contract.pop("trajectory_match_mode", None)

    assert CONTRACT.is_valid(contract) or not is_accepted(contract), contract
