"""The public surface, listed."""

import subprocess
import sys

import pytest

import evaluation

PUBLIC = [
    "AgentRun",
    "Alert",
    "AsyncJudge",
    "CachedJudge",
    "ContractError",
    "EvaluationCase",
    "EvaluationContract",
    "EvaluationError",
    "EvaluationReport",
    "EvaluationState",
    "FileStore",
    "Judge",
    "JudgeError",
    "JudgePanel",
    "JudgeRequest",
    "MemoryStore",
    "MissingExtraError",
    "Price",
    "Rubric",
    "RubricJudge",
    "RunMetadata",
    "ToolCall",
    "aevaluate",
    "build_evaluation_graph",
    "calibrate",
    "compare",
    "evaluate",
    "evaluate_many",
    "read_cases",
    "run_from_messages",
]


def test_the_public_names_are_these():
    assert evaluation.__all__ == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_is_there_and_says_what_it_is(name):
    assert getattr(evaluation, name).__doc__


def test_any_other_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="evaluate_all"):
        evaluation.evaluate_all  # noqa: B018


def test_dir_lists_the_public_names():
    assert set(PUBLIC) <= set(dir(evaluation))


def test_evaluating_without_the_graph_imports_no_framework_and_no_heavy_package():
    code = (
        "import sys; from evaluation import evaluate; evaluate({'agent_run': {'final_output': 'a'}});"
        "print([name for name in ('langgraph', 'langchain_core', 'scipy', 'numpy') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )

    assert done.stdout.strip() == "[]"
