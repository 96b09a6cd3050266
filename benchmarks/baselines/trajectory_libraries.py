"""The answers of other libraries to a row of the trajectory truth table.

A row that a library cannot express raises ``InexpressibleError`` inside and has no answer.
"""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import benchmarks.measuring  # noqa: F401 - switches the telemetry of the libraries off
from tests.evaluation.measures.trajectory.truth_table import Row

Answer = bool | float | str
_OURS_ALONE = ("forbidden_tools", "ignored_tools")
_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


class InexpressibleError(Exception):
    """The library has no such mode, rule or step."""


def read_simple_calls(calls: list) -> list[tuple[str, dict | str | None]]:
    """Read calls or steps that have only a name and arguments."""
    objects = [{"name": call} if isinstance(call, str) else call for call in calls]
    if any(set(call) - {"name", "args"} for call in objects):
        raise InexpressibleError
    return [(call["name"], call.get("args")) for call in objects]


def read_simple_rules(row: Row) -> dict:
    if any(name in row.rules for name in _OURS_ALONE):
        raise InexpressibleError
    return row.rules


def choose_mode(modes: dict, row: Row):
    if row.mode not in modes:
        raise InexpressibleError
    return modes[row.mode]


def read_object_calls(calls: list) -> list[tuple[str, dict]]:
    """Read calls whose arguments are objects; a call recorded without any has none."""
    calls_read = read_simple_calls(calls)
    if any(isinstance(args, str) for _, args in calls_read):
        raise InexpressibleError
    return [(name, args or {}) for name, args in calls_read]


def read_equality_row(row: Row) -> tuple[list, list]:
    """Return both sides for a library that only compares arguments for equality."""
    if read_simple_rules(row):
        raise InexpressibleError
    observed, expected = read_object_calls(row.actual), read_simple_calls(row.expected)
    if any(args is None and any(observed_args for _, observed_args in observed) for _, args in expected):
        raise InexpressibleError  # the step fits any arguments
    return observed, [(name, args or {}) for name, args in expected]


def ask_agentevals(row: Row) -> Answer:
    from agentevals.trajectory.match import create_trajectory_match_evaluator

    mode = choose_mode(
        {
            "exact": "strict",
            "any_order": "superset",
            "superset": "superset",
            "subset": "subset",
            "precision_recall": "unordered",
        },
        row,
    )
    rules, expected = read_simple_rules(row), read_simple_calls(row.expected)
    overrides = {name: _argument_override(rule) for name, rule in rules.get("tools", {}).items()}
    overrides |= {name: "ignore" for name, args in expected if args is None}
    if any(name in overrides and args is not None for name, args in expected if "tools" not in rules):
        raise InexpressibleError  # one tool expected with certain arguments and with any
    everywhere = _argument_override(rules.get("arguments", {"match": "exact"}))
    if not isinstance(everywhere, str):
        overrides = {**{name: everywhere for name, _ in expected}, **overrides}
        everywhere = "exact"
    evaluator = create_trajectory_match_evaluator(
        trajectory_match_mode=mode, tool_args_match_mode=everywhere, tool_args_match_overrides=overrides
    )
    return bool(
        evaluator(
            outputs=_chat_messages(read_simple_calls(row.actual)), reference_outputs=_chat_messages(expected)
        )["score"]
    )


def _argument_override(rule: dict):
    return rule["names"] if rule["match"] == "named" else rule["match"]


def _chat_messages(calls: list) -> list[dict]:
    return [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {
                    "id": str(index),
                    "type": "function",
                    "function": {
                        "name": name,
                        "arguments": args if isinstance(args, str) else json.dumps(args or {}),
                    },
                }
            ],
        }
        for index, (name, args) in enumerate(calls)
    ]


def ask_adk(row: Row) -> Answer:
    from google.adk.evaluation.eval_case import IntermediateData, Invocation
    from google.adk.evaluation.eval_metrics import EvalMetric, ToolTrajectoryCriterion
    from google.adk.evaluation.trajectory_evaluator import TrajectoryEvaluator
    from google.genai import types

    match_type = choose_mode({"exact": "EXACT", "in_order": "IN_ORDER", "any_order": "ANY_ORDER"}, row)

    def invocation(calls: list) -> Invocation:
        return Invocation(
            user_content=types.Content(parts=[types.Part(text="do it")]),
            intermediate_data=IntermediateData(
                tool_uses=[types.FunctionCall(name=name, args=args) for name, args in calls]
            ),
        )

    observed, expected = read_equality_row(row)
    criterion = ToolTrajectoryCriterion(
        threshold=1.0, match_type=ToolTrajectoryCriterion.MatchType[match_type]
    )
    metric = EvalMetric(metric_name="tool_trajectory_avg_score", criterion=criterion)
    result = TrajectoryEvaluator(eval_metric=metric).evaluate_invocations(
        [invocation(observed)], [invocation(expected)]
    )
    return float(result.overall_score)


def ask_deepeval(row: Row) -> Answer:
    from deepeval.metrics import ToolCorrectnessMetric
    from deepeval.test_case import LLMTestCase, ToolCall, ToolCallParams

    options = choose_mode(
        {
            "exact": {"should_exact_match": True},
            "in_order": {"should_consider_ordering": True},
            "any_order": {},
        },
        row,
    )
    ignored = read_simple_rules(row) == {"arguments": {"match": "ignore"}}
    expected = read_simple_calls(row.expected)
    names_only = ignored or all(args is None for _, args in expected)
    if not names_only and (row.rules or any(args is None for _, args in expected)):
        raise InexpressibleError

    def tools(calls: list) -> list[ToolCall]:
        return [ToolCall(name=name, input_parameters=args) for name, args in calls]

    metric = ToolCorrectnessMetric(
        threshold=1.0,
        evaluation_params=[] if names_only else [ToolCallParams.INPUT_PARAMETERS],
        include_reason=False,
        **options,
    )
    case = LLMTestCase(
        input="do it",
        actual_output="done",
        tools_called=tools(read_object_calls(row.actual)),
        expected_tools=tools([(name, args or {}) for name, args in expected]),
    )
    return float(metric.measure(case, _show_indicator=False))


def ask_pydantic_evals(row: Row) -> Answer:
    from pydantic_evals.evaluators import EvaluatorContext, ToolCorrectness, TrajectoryMatch
    from pydantic_evals.otel.span_tree import SpanNode, SpanTree

    if any(name in row.rules for name in _OURS_ALONE):
        raise InexpressibleError
    calls = [{"name": call} if isinstance(call, str) else call for call in row.actual]
    if any(set(call) - {"name", "args", "error"} for call in calls):
        raise InexpressibleError
    names = [name for name, _ in read_simple_calls(row.expected)]
    evaluator = choose_mode(
        {
            **{
                mode: TrajectoryMatch(names, order=mode, include_failed=True)
                for mode in ("exact", "in_order", "any_order")
            },
            "superset": ToolCorrectness(names, allow_extra=True, include_failed=True),
            "precision_recall": ToolCorrectness(names, include_failed=True),
        },
        row,
    )
    tree = SpanTree()
    tree.add_spans(
        [
            SpanNode(
                name="running tool",
                trace_id=1,
                span_id=index + 1,
                parent_span_id=None,
                start_timestamp=_EPOCH + timedelta(seconds=index),
                end_timestamp=_EPOCH + timedelta(seconds=index + 1),
                attributes={"gen_ai.tool.name": call["name"]},
                status="error" if call.get("error") else "ok",
            )
            for index, call in enumerate(calls)
        ]
    )
    context = EvaluatorContext(
        name=None,
        inputs=None,
        metadata=None,
        expected_output=None,
        output=None,
        duration=1.0,
        _span_tree=tree,
        attributes={},
        metrics={},
    )
    return evaluator.evaluate(context).value


def ask_ragas(row: Row) -> Answer:
    from ragas.messages import AIMessage, ToolCall
    from ragas.metrics.collections import ToolCallAccuracy, ToolCallF1

    metric = choose_mode({"exact": ToolCallAccuracy, "precision_recall": ToolCallF1}, row)()
    observed, expected = read_equality_row(row)
    calls = [ToolCall(name=name, args=args) for name, args in observed]
    with warnings.catch_warnings(action="ignore"):
        scored = metric.ascore(
            user_input=[AIMessage(content="", tool_calls=calls)],
            reference_tool_calls=[ToolCall(name=name, args=args) for name, args in expected],
        )
        return float(asyncio.run(scored).value)


ASK: dict[str, Callable[[Row], Answer]] = {
    "agentevals": ask_agentevals,
    "google-adk": ask_adk,
    "deepeval": ask_deepeval,
    "pydantic-evals": ask_pydantic_evals,
    "ragas": ask_ragas,
}


def ask_library(kit: str, row: Row) -> Answer | None:
    try:
        return ASK[kit](row)
    except InexpressibleError:
        return None
    except ImportError:
        raise  # not installed, or not with its dependencies
    except Exception as error:  # its error is its answer
        return type(error).__name__
