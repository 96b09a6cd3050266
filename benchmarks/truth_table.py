"""What other kits answer on the rows of the trajectory truth table, and the document of it.

    uv run python benchmarks/truth_table.py                 writes docs/reference/trajectory-matching.md anew
    uv run --with agentevals --with google-adk --with deepeval --with pydantic-evals --with ragas \
        python benchmarks/truth_table.py --measure          asks those kits first

A kit that is not installed keeps the answers that were measured before. A row whose mode or rule a kit
does not have stays blank for it. An answer is true or false, a score from 0 to 1, or the name of what the
kit raised. The kits are never dependencies of the project.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import warnings
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

os.environ.update(
    LANGSMITH_TRACING="false",
    LANGCHAIN_TRACING_V2="false",
    DEEPEVAL_TELEMETRY_OPT_OUT="YES",
    RAGAS_DO_NOT_TRACK="true",
    OTEL_SDK_DISABLED="true",
)
sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.evaluation.metrics.trajectory.truth_table import (
    DOCUMENT,
    FUNCTIONS,
    KITS,
    PEERS,
    Row,
    document,
    peers,
    rows,
    verdict,
)

Answer = bool | float | str
_OURS_ALONE = ("forbidden_tools", "ignored_tools", "compared_tools", "failed_calls")
_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


class InexpressibleError(Exception):
    """The kit has no such mode, or no way to say such a rule or step."""


def plain(calls: list) -> list[tuple[str, dict | str | None]]:
    """Read calls or steps that are a name with arguments, and nothing more."""
    objects = [{"name": call} if isinstance(call, str) else call for call in calls]
    if any(set(call) - {"name", "args"} for call in objects):
        raise InexpressibleError
    return [(call["name"], call.get("args")) for call in objects]


def simple_rules(row: Row) -> dict:
    if any(name in row.rules for name in _OURS_ALONE):
        raise InexpressibleError
    return row.rules


def chosen(modes: dict, row: Row):
    if row.mode not in modes:
        raise InexpressibleError
    return modes[row.mode]


def objects_only(calls: list) -> list[tuple[str, dict]]:
    """Read calls whose arguments are objects; a call recorded without any has none."""
    read = plain(calls)
    if any(isinstance(args, str) for _, args in read):
        raise InexpressibleError
    return [(name, args or {}) for name, args in read]


def equality_only(row: Row) -> tuple[list, list]:
    """Give both sides for a kit that knows nothing but equal arguments."""
    if simple_rules(row):
        raise InexpressibleError
    observed, expected = objects_only(row.actual), plain(row.expected)
    if any(args is None and any(given for _, given in observed) for _, args in expected):
        raise InexpressibleError  # any arguments fit, and there are some
    return observed, [(name, args or {}) for name, args in expected]


def agentevals(row: Row) -> Answer:
    from agentevals.trajectory.match import create_trajectory_match_evaluator

    mode = chosen(
        {
            "exact": "strict",
            "any_order": "superset",
            "superset": "superset",
            "subset": "subset",
            "precision_recall": "unordered",
        },
        row,
    )
    rules, expected = simple_rules(row), plain(row.expected)
    overrides = {name: _override(rule) for name, rule in rules.get("tools", {}).items()}
    overrides |= {name: "ignore" for name, args in expected if args is None}
    if any(name in overrides and args is not None for name, args in expected if "tools" not in rules):
        raise InexpressibleError  # one tool expected with certain arguments and with any
    everywhere = _override(rules.get("arguments", {"match": "exact"}))
    if not isinstance(everywhere, str):
        overrides = {**{name: everywhere for name, _ in expected}, **overrides}
        everywhere = "exact"
    evaluator = create_trajectory_match_evaluator(
        trajectory_match_mode=mode, tool_args_match_mode=everywhere, tool_args_match_overrides=overrides
    )
    return bool(
        evaluator(outputs=_messages(plain(row.actual)), reference_outputs=_messages(expected))["score"]
    )


def _override(rule: dict):
    if rule.get("tolerance") or rule.get("ignore_case"):
        raise InexpressibleError
    if rule["match"] == "custom":
        if rule["function"] not in FUNCTIONS:
            raise InexpressibleError
        return lambda observed, expected: FUNCTIONS[rule["function"]](expected, observed)
    return rule["names"] if rule["match"] == "named" else rule["match"]


def _messages(calls: list) -> list[dict]:
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


def adk(row: Row) -> Answer:
    from google.adk.evaluation.eval_case import IntermediateData, Invocation
    from google.adk.evaluation.eval_metrics import EvalMetric, ToolTrajectoryCriterion
    from google.adk.evaluation.trajectory_evaluator import TrajectoryEvaluator
    from google.genai import types

    match_type = chosen({"exact": "EXACT", "in_order": "IN_ORDER", "any_order": "ANY_ORDER"}, row)

    def invocation(calls: list) -> Invocation:
        return Invocation(
            user_content=types.Content(parts=[types.Part(text="do it")]),
            intermediate_data=IntermediateData(
                tool_uses=[types.FunctionCall(name=name, args=args) for name, args in calls]
            ),
        )

    observed, expected = equality_only(row)
    criterion = ToolTrajectoryCriterion(
        threshold=1.0, match_type=ToolTrajectoryCriterion.MatchType[match_type]
    )
    metric = EvalMetric(metric_name="tool_trajectory_avg_score", criterion=criterion)
    result = TrajectoryEvaluator(eval_metric=metric).evaluate_invocations(
        [invocation(observed)], [invocation(expected)]
    )
    return float(result.overall_score)


def deepeval(row: Row) -> Answer:
    from deepeval.metrics import ToolCorrectnessMetric
    from deepeval.test_case import LLMTestCase, ToolCall, ToolCallParams

    options = chosen(
        {
            "exact": {"should_exact_match": True},
            "in_order": {"should_consider_ordering": True},
            "any_order": {},
        },
        row,
    )
    ignored = simple_rules(row) == {"arguments": {"match": "ignore"}}
    expected = plain(row.expected)
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
        tools_called=tools(objects_only(row.actual)),
        expected_tools=tools([(name, args or {}) for name, args in expected]),
    )
    return float(metric.measure(case, _show_indicator=False))


def pydantic_evals(row: Row) -> Answer:
    from pydantic_evals.evaluators import EvaluatorContext, ToolCorrectness, TrajectoryMatch
    from pydantic_evals.otel.span_tree import SpanNode, SpanTree

    failed = row.rules.get("failed_calls", "count")
    if failed == "fail" or any(name in row.rules for name in _OURS_ALONE[:-1]):
        raise InexpressibleError
    seen = [{"name": call} if isinstance(call, str) else call for call in row.actual]
    if any(set(call) - {"name", "args", "error"} for call in seen):
        raise InexpressibleError
    names = [name for name, _ in plain(row.expected)]
    include_failed = failed == "count"
    evaluator = chosen(
        {
            **{
                mode: TrajectoryMatch(names, order=mode, include_failed=include_failed)
                for mode in ("exact", "in_order", "any_order")
            },
            "superset": ToolCorrectness(names, allow_extra=True, include_failed=include_failed),
            "precision_recall": ToolCorrectness(names, include_failed=include_failed),
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
            for index, call in enumerate(seen)
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


def ragas(row: Row) -> Answer:
    from ragas.messages import AIMessage, ToolCall
    from ragas.metrics.collections import ToolCallAccuracy, ToolCallF1

    metric = chosen({"exact": ToolCallAccuracy, "precision_recall": ToolCallF1}, row)()
    observed, expected = equality_only(row)
    calls = [ToolCall(name=name, args=args) for name, args in observed]
    with warnings.catch_warnings(action="ignore"):
        scored = metric.ascore(
            user_input=[AIMessage(content="", tool_calls=calls)],
            reference_tool_calls=[ToolCall(name=name, args=args) for name, args in expected],
        )
        return float(asyncio.run(scored).value)


ASK: dict[str, Callable[[Row], Answer]] = {
    "agentevals": agentevals,
    "google-adk": adk,
    "deepeval": deepeval,
    "pydantic-evals": pydantic_evals,
    "ragas": ragas,
}


def asked(kit: str, row: Row) -> Answer | None:
    try:
        return ASK[kit](row)
    except InexpressibleError:
        return None
    except ImportError:
        raise  # not installed, or not with what it needs: no answer at all
    except Exception as error:  # whatever a kit raises is its answer
        return type(error).__name__


def measure() -> None:
    known = peers() if PEERS.exists() else {"versions": {}, "answers": {}}
    for kit in KITS:
        try:
            answers = {str(row.row): asked(kit, row) for row in rows()}
            known["versions"][kit] = version(kit)
        except (ImportError, PackageNotFoundError) as error:
            print(f"{kit}: kept as it was ({error})")
            continue
        for row, answer in answers.items():
            known["answers"].setdefault(row, {}).pop(kit, None)
            if answer is not None:
                known["answers"][row][kit] = answer
    PEERS.write_text(written(known), encoding="utf-8")


def written(known: dict) -> str:
    """One line a row, the kits in order, so that a change shows as one."""
    lines = [
        f"{json.dumps(row)}: {json.dumps({kit: answers[kit] for kit in KITS if kit in answers})}"
        for row, answers in sorted(known["answers"].items(), key=lambda item: int(item[0]))
        if any(row == str(each.row) for each in rows())
    ]
    body = ",\n".join(lines)
    return f'{{"versions": {json.dumps(known["versions"])},\n"answers": {{\n{body}\n}}}}\n'


def summary() -> None:
    """Print how often each kit gives our verdict, and where not."""
    answers = peers()["answers"]
    for kit in KITS:
        given = [(row, answers[str(row.row)][kit]) for row in rows() if kit in answers.get(str(row.row), {})]
        other = [row for row, answer in given if verdict(answer) is not row.passed]
        unexplained = [row.row for row in other if kit not in row.why]
        same = len(given) - len(other)
        print(f"{kit}: {len(given)} rows, {same} the same, others {[row.row for row in other]}")
        if unexplained:
            print(f"  without a reason: {unexplained}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--measure", action="store_true", help="ask the kits that are installed")
    if parser.parse_args().measure:
        measure()
    summary()
    if DOCUMENT.exists():
        DOCUMENT.write_text(document(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
