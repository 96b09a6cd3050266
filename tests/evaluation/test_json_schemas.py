"""The published schemas are those of the code, and hold for what goes in and comes out."""

import json

import jsonschema_rs
from hypothesis import given

from evaluation import evaluate
from evaluation.json_schemas import FOLDER, schemas
from tests.evaluation.cases import cases

REPORT = jsonschema_rs.validator_for(json.loads((FOLDER / "evaluation_report.json").read_text()))
CASE = jsonschema_rs.validator_for(json.loads((FOLDER / "evaluation_case.json").read_text()))


def test_the_published_schemas_are_current():
    published = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()}

    assert published == schemas(), "python -m evaluation.json_schemas writes them"


@given(cases)
def test_every_report_fulfils_its_schema(case):
    assert REPORT.is_valid(json.loads(evaluate(case).model_dump_json()))


@given(cases)
def test_a_case_that_the_schema_refuses_is_an_error_and_never_passes(case):
    if not CASE.is_valid(case):
        report = evaluate(case)

        # An unknown match mode is an error beside which the rest is measured all the same.
        assert report.status == "invalid" or case["trajectory_match_mode"] == "fuzzy"
        assert report.status not in {"passed", "warning"}
        assert report.errors
