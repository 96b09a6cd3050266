"""The published schemas are those of the code, and hold for what goes in and comes out."""

import json

import jsonschema_rs
import pytest
from hypothesis import given

from evaluation import evaluate
from evaluation.json_schemas import FOLDER, schemas
from tests.evaluation.cases import cases

REPORT = jsonschema_rs.validator_for(json.loads(schemas()["evaluation_report.json"]))
CASE = jsonschema_rs.validator_for(json.loads(schemas()["evaluation_case.json"]))


@pytest.mark.parametrize("name", schemas())
def test_a_published_schema_is_current(name):
    published = (FOLDER / name).read_text(encoding="utf-8")

    assert published == schemas()[name], "python -m evaluation.schemas writes them"


def test_nothing_else_is_published():
    assert {path.name for path in FOLDER.iterdir()} == set(schemas())


@given(cases)
def test_every_report_fulfils_its_schema(case):
    assert REPORT.is_valid(json.loads(evaluate(case).model_dump_json()))


@given(cases)
def test_what_the_schema_of_a_case_refuses_is_invalid(case):
    if not CASE.is_valid(case):
        assert evaluate(case).status == "invalid"
