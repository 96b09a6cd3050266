"""The types of plain inputs are those of the models, and what they accept is accepted at run time."""

import pytest
from pydantic import TypeAdapter

from evaluation import (
    EvaluationCaseDict,
    EvaluationContract,
    EvaluationReport,
    EvaluationReportDict,
    ToolCall,
    evaluate,
)
from evaluation.checks.kinds.counts import WordCount
from evaluation.inputs.rules import ContentRule
from evaluation.testing import ScriptedJudge
from tests.evaluation.inputs.plain_types import FOLDER, build_files

FILES = build_files()
CASE = {
    "agent_run": {"final_output": "Hello world", "tool_calls": ["greet", {"name": "wave"}]},
    "required_content": [{"text": "world"}],
    "checks": [{"check": "word_count", "max": 5}],
}


@pytest.mark.parametrize("name", FILES)
def test_the_types_are_those_of_the_models(name):
    written = (FOLDER / name).read_text(encoding="utf-8")

    assert written == FILES[name], "python -m tests.evaluation.inputs.plain_types writes them"


def test_a_program_can_read_a_case_by_its_type():
    assert evaluate(TypeAdapter(EvaluationCaseDict).validate_python(CASE)).status == "passed"


def test_a_plain_case_may_hold_models_at_any_depth():
    case = {
        "agent_run": {"final_output": "Hello world", "tool_calls": [ToolCall(name="greet")]},
        "required_content": [ContentRule(text="world")],
        "checks": [WordCount(max=5)],
    }

    assert evaluate(case).status == "passed"


def test_the_constructor_of_a_model_accepts_tuples():
    contract = EvaluationContract(required_content=({"text": "world"},), audit={"rules": ()})

    assert contract == EvaluationContract(required_content=[{"text": "world"}], audit={"rules": []})


@pytest.mark.parametrize("answer", [{"score": 4, "rationale": "Good."}, "no answer"])
def test_a_report_as_plain_json_has_its_type(answer):
    report = evaluate({**CASE, "subjective_criteria": ["tone"]}, judge=ScriptedJudge([answer]))
    plain = report.model_dump(mode="json")

    assert plain.keys() == EvaluationReport.model_fields.keys()
    assert TypeAdapter(EvaluationReportDict).validate_python(plain) == plain
