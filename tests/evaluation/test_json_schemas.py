import time

import pytest

from evaluation.errors import ContractError
from evaluation.patterns import check_schema, find_schema_problem


def test_a_schema_that_cannot_be_used_is_refused_with_the_reason(subtests):
    for schema, problem in [
        ({"type": 5}, "#/type"),
        ({"type": "none"}, r"keyword$"),
        ({"pattern": "(?=a)"}, "no lookaround and no back-reference"),
        # The validator names the place of a pattern only in newer versions.
        ({"properties": {"a": {"pattern": "(?=a)"}}}, "#/(properties/a/pattern)?"),
        ({"pattern": r"(a)\\1", "type": "nothing"}, "#/"),
        ({"pattern": "[ab]*a[ab]{50000}c"}, "cannot be used"),
        ({"pattern": "(a{1000}){1000}"}, "cannot be used"),
        ({"$ref": "http://example.com/schema.json"}, "points outside of the schema"),
        ({"$ref": "file:///etc/hostname"}, "cannot be used"),
        ({"$ref": "other.json"}, "cannot be used"),
        ({"$schema": "http://example.com/draft", "type": "string"}, "cannot be used"),
        ({"minimum": float("inf")}, "cannot be written as JSON"),
        ({"$ref": "#/$defs/missing"}, "cannot be used"),
        ({"name": "string"}, "no keyword of JSON Schema"),
    ]:
        with subtests.test(schema=schema):
            with pytest.raises(ContractError, match=problem) as refused:
                check_schema(schema)

            assert len(str(refused.value)) < 400


def test_a_schema_nested_deeper_than_the_validator_goes_is_refused():
    schema = {"type": "string"}
    for _ in range(900):
        schema = {"not": schema}

    with pytest.raises(ContractError, match=r"cannot be (used|written)"):
        check_schema(schema)


def test_definitions_that_double_with_each_other_are_refused_at_once():
    twice = {f"a{place}": {"allOf": [{"$ref": f"#/$defs/a{place + 1}"}] * 2} for place in range(40)}
    schema = {"$defs": {**twice, "a40": {"type": "string"}}, "$ref": "#/$defs/a0"}
    begin = time.process_time()

    with pytest.raises(ContractError, match="refers to its definitions so often"):
        check_schema(schema)

    assert time.process_time() - begin < 1


def test_references_inside_a_schema_are_followed():
    schema = {
        "$id": "https://example.com/whole",
        "$defs": {"a/b~c": {"type": "integer"}, "list": {"anyOf": [{"type": "string"}]}},
        "properties": {"id": {"$ref": "#/$defs/a~1b~0c"}, "text": {"$ref": "#/%24defs/list/anyOf/0"}},
    }

    assert check_schema(schema) == schema
    assert find_schema_problem(schema, {"id": 1, "text": "a"}) is None
    assert find_schema_problem(schema, {"id": "a"}) is not None
    assert find_schema_problem(schema, {"text": 1}) is not None


def test_an_address_beside_a_reference_means_nothing_in_an_old_draft():
    old = {"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"a": {"type": "integer"}}}
    schema = {**old, "$ref": "#/definitions/a", "$id": "http://example.com/other"}

    assert find_schema_problem(schema, 1) is None
    assert find_schema_problem(schema, "x") is not None


def test_a_problem_names_the_place_in_the_schema_and_nothing_of_the_value():
    schema = {"properties": {"age": {"type": "integer"}}}

    assert find_schema_problem(schema, {"age": "secret"}) == '"#/properties/age/type" is not fulfilled'


def test_a_value_with_half_a_surrogate_pair_cannot_be_read():
    assert find_schema_problem({"type": "string"}, "\ud800") == "the value cannot be read as JSON"


def nest(levels, leaf=None):
    value = leaf
    for _ in range(levels):
        value = {"child": value}
    return value


TREE = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {
            "anyOf": [
                {"properties": {"child": {"$ref": "#/$defs/node"}}, "type": "object"},
                {"properties": {"child": {"$ref": "#/$defs/node"}}, "type": ["object", "null"]},
            ]
        }
    },
}


def test_a_recursive_schema_of_alternatives_takes_no_exponential_time(subtests):
    for leaf, matches in [(None, True), ("text", False)]:
        with subtests.test(leaf=leaf):
            started = time.process_time()
            problem = find_schema_problem(TREE, nest(90, leaf))

            assert (problem is None) is matches
            assert time.process_time() - started < 2.0


def test_large_values_take_little_time(subtests):
    for schema, value in [
        ({"uniqueItems": True}, [{"a": [number]} for number in range(20_000)]),
        ({"items": {"enum": list(range(10_000))}}, [-1] * 1_000),
        ({"items": {"type": "string"}}, list(range(50_000))),
    ]:
        with subtests.test(schema=schema):
            started = time.process_time()
            find_schema_problem(schema, value)

            assert time.process_time() - started < 5.0


def test_the_place_of_a_problem_in_a_deep_value_is_not_searched_for():
    assert find_schema_problem(TREE, nest(30, "text")) == "the JSON Schema is not fulfilled"
