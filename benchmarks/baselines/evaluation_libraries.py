"""The other libraries of ``evaluation_speed``, each used as its documentation says.

The input of a library is built before the clock starts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Final

from benchmarks.evaluation_runs import Json, Run, repeated_runs
from benchmarks.measuring import Job, Subject

TASK: Final = "Please change my order."


def prepare_agentevals(mode: str) -> Callable[[int], Job]:
    def prepare(count: int) -> Job:
        from agentevals.trajectory.match import create_trajectory_match_evaluator

        evaluator = create_trajectory_match_evaluator(trajectory_match_mode=mode)
        inputs = [(_chat_messages(run.calls), _chat_messages(run.expected), run) for run in repeated_runs()]
        return lambda: sum(
            evaluator(outputs=actual, reference_outputs=expected)["score"] is run.agrees
            for actual, expected, run in islice(cycle(inputs), count)
        )

    return prepare


def _chat_messages(calls: Sequence[Json]) -> list[Json]:
    tool_calls = [
        {"id": str(index), "function": {"name": call["name"], "arguments": json.dumps(call["args"])}}
        for index, call in enumerate(calls)
    ]
    return [
        {"role": "user", "content": TASK},
        {"role": "assistant", "content": "", "tool_calls": tool_calls},
    ]


def prepare_deepeval(count: int) -> Job:
    from deepeval.metrics import ToolCorrectnessMetric
    from deepeval.models import DeepEvalBaseLLM
    from deepeval.test_case import LLMTestCase, ToolCall, ToolCallParams

    class UnusedModel(DeepEvalBaseLLM):
        """The metric requires a model, and never calls it if no available tools are listed."""

        def load_model(self) -> None:
            return None

        def generate(self, *args: object, **kwargs: object) -> str:
            raise AssertionError("the model is called")

        async def a_generate(self, *args: object, **kwargs: object) -> str:
            raise AssertionError("the model is called")

        def get_model_name(self) -> str:
            return "none"

    def tool_calls(calls: Sequence[Json]) -> list[object]:
        return [ToolCall(name=call["name"], input_parameters=call["args"]) for call in calls]

    metric = ToolCorrectnessMetric(
        threshold=1.0,
        evaluation_params=[ToolCallParams.INPUT_PARAMETERS],
        model=UnusedModel(),
        async_mode=False,
        should_exact_match=True,
    )
    cases = [
        LLMTestCase(
            input=TASK,
            actual_output=run.output,
            tools_called=tool_calls(run.calls),
            expected_tools=tool_calls(run.expected),
        )
        for run in repeated_runs()
    ]
    pairs = list(zip(cases, repeated_runs(), strict=True))
    return lambda: sum(
        (metric.measure(case, _show_indicator=False) == 1.0) is run.agrees
        for case, run in islice(cycle(pairs), count)
    )


def prepare_adk_trajectory(mode: str) -> Callable[[int], Job]:
    def prepare(count: int) -> Job:
        from google.adk.evaluation.eval_metrics import EvalMetric, ToolTrajectoryCriterion
        from google.adk.evaluation.trajectory_evaluator import TrajectoryEvaluator

        criterion = ToolTrajectoryCriterion(threshold=1.0, match_type=ToolTrajectoryCriterion.MatchType[mode])
        metric = EvalMetric(metric_name="tool_trajectory_avg_score", threshold=1.0, criterion=criterion)
        evaluator = TrajectoryEvaluator(eval_metric=metric)
        inputs = [(*_adk_invocations(run), run.agrees) for run in repeated_runs()]
        return lambda: sum(
            (evaluator.evaluate_invocations([actual], [expected]).overall_score == 1.0) is agrees
            for actual, expected, agrees in islice(cycle(inputs), count)
        )

    return prepare


def prepare_adk_rouge(count: int) -> Job:
    from google.adk.evaluation.eval_metrics import EvalMetric
    from google.adk.evaluation.final_response_match_v1 import RougeEvaluator

    evaluator = RougeEvaluator(EvalMetric(metric_name="response_match_score", threshold=0.4))
    inputs = [_adk_invocations(run) for run in repeated_runs()]
    return lambda: sum(
        evaluator.evaluate_invocations([actual], [expected]).overall_score >= 0.4
        for actual, expected in islice(cycle(inputs), count)
    )


def _adk_invocations(run: Run) -> tuple[object, object]:
    from google.adk.evaluation.eval_case import IntermediateData, Invocation
    from google.genai import types

    def invocation(calls: Sequence[Json], text: str) -> object:
        uses = [types.FunctionCall(name=call["name"], args=call["args"]) for call in calls]
        return Invocation(
            user_content=types.Content(parts=[types.Part(text=TASK)]),
            final_response=types.Content(parts=[types.Part(text=text)]),
            intermediate_data=IntermediateData(tool_uses=uses),
        )

    return invocation(run.calls, run.output), invocation(run.expected, run.reference)


def prepare_pydantic_evals(count: int) -> Job:
    from pydantic_evals import Case, Dataset
    from pydantic_evals.evaluators import Evaluator, EvaluatorContext

    @dataclass
    class ExactTrajectory(Evaluator[int, list[Json], None]):
        """Compares the whole trajectory."""

        def evaluate(self, ctx: EvaluatorContext[int, list[Json], None]) -> bool:
            return ctx.output == ctx.expected_output

    runs = list(islice(cycle(repeated_runs()), count))
    cases = [
        Case(name=str(index), inputs=index, expected_output=run.expected) for index, run in enumerate(runs)
    ]
    dataset = Dataset(name="synthetic", cases=cases, evaluators=[ExactTrajectory()])

    async def recorded_calls(index: int) -> list[Json]:
        return runs[index].calls

    def job() -> int:
        report = dataset.evaluate_sync(recorded_calls, progress=False, max_concurrency=1)
        return sum(
            all(result.value for result in case.assertions.values()) is runs[case.inputs].agrees
            for case in report.cases
        )

    return job


_AGENTEVALS: Final = ("agentevals", "agentevals")
_ADK: Final = ("google-adk", "google.adk.evaluation")
PEERS: Final = (
    Subject("agentevals, trajectory, strict", prepare_agentevals("strict"), 500, *_AGENTEVALS),
    Subject("agentevals, trajectory, unordered", prepare_agentevals("unordered"), 500, *_AGENTEVALS),
    Subject("DeepEval, tool correctness, exact", prepare_deepeval, 500, "deepeval", "deepeval"),
    Subject("ADK, trajectory, EXACT", prepare_adk_trajectory("EXACT"), 10_000, *_ADK),
    Subject("ADK, trajectory, IN_ORDER", prepare_adk_trajectory("IN_ORDER"), 10_000, *_ADK),
    Subject("ADK, trajectory, ANY_ORDER", prepare_adk_trajectory("ANY_ORDER"), 10_000, *_ADK),
    Subject("ADK, ROUGE-1", prepare_adk_rouge, 300, "rouge-score", "rouge_score"),
    Subject(
        "pydantic-evals, exact trajectory", prepare_pydantic_evals, 1_000, "pydantic-evals", "pydantic_evals"
    ),
)
COUNTERPARTS: Final = {
    "agentevals, trajectory, strict": "match_trajectory, exact, equal",
    "agentevals, trajectory, unordered": "match_trajectory, any_order, equal",
    "DeepEval, tool correctness, exact": "match_trajectory, exact, equal",
    "ADK, trajectory, EXACT": "match_trajectory, exact, equal",
    "ADK, trajectory, IN_ORDER": "match_trajectory, in_order, equal",
    "ADK, trajectory, ANY_ORDER": "match_trajectory, any_order, equal",
}
"""Our row that does the same as the peer; every peer is also compared with the whole evaluation."""
