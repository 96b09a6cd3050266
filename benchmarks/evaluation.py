r"""Runs a second that one process evaluates, without a judge; and what the parts and the peers take.

Synthetic runs from a fixed seed: six tool calls with nested arguments, an output and a reference of 40
words, expected trajectory, thresholds. One run in four has one argument changed.
The fast path, the matching of trajectories alone, the graph against one of as many idle nodes, and the
memory of a stream; beside agentevals, DeepEval, ADK and pydantic-evals where they are installed.

    uv run python benchmarks/evaluation.py
    uv run --with agentevals --with deepeval --with google-adk --with rouge-score \
        --with pydantic-evals python benchmarks/evaluation.py

The peers are never dependencies of the project. Always exits with 0; the words pass and fail are
for people.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import cycle, islice
from pathlib import Path
from typing import Final

for _name, _value in {
    "LANGSMITH_TRACING": "false",
    "LANGCHAIN_TRACING_V2": "false",
    "LANGSMITH_TEST_TRACKING": "false",
    "OTEL_SDK_DISABLED": "true",
    "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
    "DEEPEVAL_UPDATE_WARNING_OPT_IN": "NO",
    "DEEPEVAL_DISABLE_DOTENV": "1",
    "DEEPEVAL_FILE_SYSTEM": "READ_ONLY",
    "ERROR_REPORTING": "NO",
    "LOGFIRE_SEND_TO_LOGFIRE": "false",
}.items():
    os.environ[_name] = _value  # before the imports: no peer may call home, and all run untraced

ROOT: Final = Path(__file__).resolve().parent.parent
# First comes the folder of this script, where a file is named as the package.
sys.path[:] = [str(ROOT), *(path for path in sys.path if Path(path or ".").resolve() != ROOT / "benchmarks")]

# LangGraph is imported where a graph is built: the second process of a batch needs none.
from evaluation import EvaluationReport, EvaluationState, evaluate, evaluate_many  # noqa: E402
from evaluation.inputs.rules import MatchMode  # noqa: E402
from evaluation.metrics.trajectory import (  # noqa: E402
    ExpectedStep,
    ObservedAction,
    expected_step,
    match_trajectory,
    observed_action,
)
from evaluation.nodes.prepare_evaluation import blank_state, prepare_evaluation  # noqa: E402
from evaluation.plugins import Plugins  # noqa: E402

Json = dict[str, object]
Job = Callable[[], int]
"""Does the work once and returns in how many runs the verdict is the one that the run was made for."""

SEED: Final = 20_240_607
DISTINCT: Final = 500
"""Runs that the peers and the matching go through, again and again."""
MOST_FRESH: Final = 5_000
"""New runs that a sample of ours has at most; a longer one goes through them again."""
CALLS: Final = 6
WORDS: Final = 40
CHANGED: Final = 9
"""Words of the output that are not those of the reference."""
NODES: Final = 9
"""Of the straight path without the judge."""

RATE_TARGET: Final = 5_000
MATCH_TARGET: Final = 50_000
ASSIGN_TARGET: Final = 30_000
GRAPH_TARGET: Final = 1.15
MEMORY_TARGET: Final = 1.05
BUSY: Final = 1.15
"""Wall over CPU time of rows that only compute, above which others were using the machine."""

MANY: Final = "evaluate_many, one process"
RICH: Final = "  with content rules, plan, baseline"
PERSONAL: Final = "  with personal data in each run"
ONE: Final = "evaluate, case by case"
TWO: Final = "evaluate_many, two processes"
GRAPH: Final = "graph, invoke"
IDLE: Final = f"LangGraph of {NODES} idle nodes, invoke"


# The runs.


@dataclass(frozen=True)
class Run:
    """One case, with the verdict on its trajectory that it was made for."""

    case: Json
    calls: list[Json]
    expected: list[Json]
    output: str
    reference: str
    agrees: bool


_TOOLS: Final = (
    "get_order",
    "find_user",
    "list_flights",
    "update_booking",
    "refund_payment",
    "send_receipt",
    "search_catalog",
    "check_stock",
)
_VOCABULARY: Final = """
the order for your trip was changed as you asked and we have sent a new receipt to address on file flight
leaves at noon from gate seven with one bag included refund of fare will arrive within five days please reply
if anything else should be checked before departure seat near window is confirmed now
"""


@cache
def made() -> list[Run]:
    return list(islice(runs(SEED), DISTINCT))


def fresh(count: int) -> list[Run]:
    """Make runs that were not evaluated before: what is fast on known texts only does not look fast."""
    return list(islice(_FRESH, min(count, MOST_FRESH)))


def runs(seed: int) -> Iterator[Run]:
    """Yield new runs without end, the same for the same seed."""
    source = random.Random(seed)
    index = 0
    while True:
        yield _run(index, source)
        index += 1


_FRESH: Final = runs(SEED + 1)


def _run(index: int, source: random.Random) -> Run:
    # Each side has been through JSON of its own: nothing is equal by being the same object.
    text = json.dumps([_call(source) for _ in range(CALLS)])
    expected: list[Json] = json.loads(text)
    calls: list[Json] = json.loads(text)
    agrees = index % 4 != 3
    if not agrees:
        _changed(calls[source.randrange(CALLS)])
    words = _VOCABULARY.split()
    reference = [source.choice(words) for _ in range(WORDS)]
    output = list(reference)
    for place in source.sample(range(WORDS), CHANGED):
        output[place] = source.choice(words)
    texts = (" ".join(output), " ".join(reference))
    return Run(_case(index, source, (calls, expected), texts), calls, expected, *texts, agrees)


def _call(source: random.Random) -> Json:
    return {
        "name": source.choice(_TOOLS),
        "args": {
            "order_id": f"W{source.randrange(10**7):07d}",
            "items": [{"sku": f"{source.randrange(10**5):05d}", "quantity": source.randrange(1, 9)}],
            "gift": source.random() < 0.5,
            "address": {
                "city": source.choice(("Oslo", "Lyon", "Graz")),
                "location": {"lat": _degrees(source), "lon": _degrees(source)},
            },
        },
    }


def _degrees(source: random.Random) -> float:
    return round(source.uniform(0, 60), 4)


def _changed(call: Json) -> None:
    args = call["args"]
    assert isinstance(args, dict)
    args["address"]["city"] = "Turin"


def _case(
    index: int, source: random.Random, sides: tuple[list[Json], list[Json]], texts: tuple[str, str]
) -> Json:
    (calls, expected), (output, reference) = sides, texts
    return {
        "input": "change of an order",
        "case_id": f"case-{index}",
        "agent_run": {
            "input": "Please change my order and send me the receipt.",
            "final_output": output,
            "tool_calls": calls,
            "latency_ms": 800.0 + source.random() * 400,
            "input_tokens": source.randrange(200, 900),
            "output_tokens": source.randrange(40, 90),
            "cost_usd": 0.01,
        },
        "reference_output": reference,
        "expected_trajectory": expected,
        "thresholds": {
            "token_f1": 0.4,
            "rouge_1": 0.4,
            "latency_ms": 1500,
            "total_tokens": 1200,
            "cost_usd": {"max": 0.05, "severity": "warning"},
            "trajectory_recall": 0.5,
        },
    }


def rich(run: Run) -> Json:
    """The same with what else a contract and a record can hold."""
    recorded = run.case["agent_run"]
    assert isinstance(recorded, dict)
    results = [{**call, "result": {"status": "ok", "total": 12.5}, "latency_ms": 40.0} for call in run.calls]
    return {
        **run.case,
        "agent_run": {**recorded, "tool_calls": results, "plan": [call["name"] for call in run.expected]},
        "run_metadata": {"model": "synthetic", "prompt_version": "v3", "environment": "benchmark"},
        "keywords": ["order", "receipt", "trip"],
        "forbidden_content": [{"text": "I am not able"}, {"pattern": r"(?i)error \d{3}"}],
        "output_length": {"min_words": 5, "max_words": 200},
        "trajectory": {"forbidden_tools": ["delete_account"]},
        "baseline_metrics": {"latency_ms": 1000.0, "total_tokens": 700, "token_f1": 0.7, "rouge_1": 0.7},
    }


def personal(run: Run) -> Json:
    """The same with what has to be found and taken out of the report."""
    recorded = run.case["agent_run"]
    assert isinstance(recorded, dict)
    asked = f"I am jane.{run.case['case_id']}@example.org, +1 415 555 2671. Please change my order."
    return {**run.case, "agent_run": {**recorded, "input": asked}, "audit": {"personal_data": "info"}}


# The fast path and the graph.


def _repeated(count: int) -> Iterator[Run]:
    return islice(cycle(made()), count)


def _as_made(run: Run, report: EvaluationReport) -> bool:
    return report.metrics.trajectory["passed"] is run.agrees


def many(count: int, processes: int = 1, form: Callable[[Run], Json] = lambda run: run.case) -> Job:
    given = fresh(count)
    cases = [form(run) for run in given]

    def job() -> int:
        reports = evaluate_many(islice(cycle(cases), count), processes=processes)
        return sum(map(_as_made, cycle(given), reports))

    return job


def many_rich(count: int) -> Job:
    return many(count, form=rich)


def many_personal(count: int) -> Job:
    return many(count, form=personal)


def two_processes(count: int) -> Job:
    return many(count, 2)


def case_by_case(count: int) -> Job:
    given = fresh(count)
    return lambda: sum(_as_made(run, evaluate(run.case)) for run in islice(cycle(given), count))


def graph(count: int) -> Job:
    from evaluation import build_evaluation_graph

    compiled = build_evaluation_graph()
    given = fresh(count)

    def job() -> int:
        states = (compiled.invoke(run.case) for run in given)  # type: ignore[arg-type]
        return sum(
            state["trajectory_metrics"]["passed"] is run.agrees
            for run, state in zip(given, states, strict=True)
        )

    return job


def idle_graph(count: int) -> Job:
    """The engine's floor: the same state, as many nodes, which change nothing."""
    from langgraph.graph import END, START, StateGraph

    def idle(state: EvaluationState) -> EvaluationState:
        return {}

    builder = StateGraph(EvaluationState)
    names = [f"node_{index}" for index in range(NODES)]
    for name in names:
        builder.add_node(name, idle)
    for before, after in zip([START, *names], [*names, END], strict=True):
        builder.add_edge(before, after)
    compiled = builder.compile()

    def job() -> int:
        states = (compiled.invoke({**blank_state(), "input": run.output}) for run in _repeated(count))
        return sum(len(state) > 0 for state in states)

    return job


# Trajectory matching alone, from inputs that are there.


@dataclass(frozen=True)
class Pair:
    """What ``match_trajectory`` takes, and the verdict that it was made for."""

    actual: list[ObservedAction]
    expected: list[ExpectedStep]
    agrees: bool


def _pair(run: Run) -> Pair:
    state = prepare_evaluation(run.case, Plugins())
    actual = [observed_action(action) for action in state["actual_trajectory"]]
    return Pair(actual, [expected_step(item) for item in state["expected_trajectory"]], run.agrees)


def _shuffled(pair: Pair, source: random.Random) -> Pair:
    return Pair(source.sample(pair.actual, len(pair.actual)), pair.expected, pair.agrees)


def matching(mode: MatchMode, kind: str) -> Callable[[int], Job]:
    def prepare(count: int) -> Job:
        source = random.Random(SEED)
        chosen = [_pair(run) for run in made() if run.agrees is (kind != "one mismatch")]
        pairs = [_shuffled(pair, source) for pair in chosen] if kind == "shuffled" else chosen

        def job() -> int:
            return sum(
                match_trajectory(pair.actual, pair.expected, mode).passed is pair.agrees
                for pair in islice(cycle(pairs), count)
            )

        return job

    return prepare


# The peers, each by its own documented way; what they take is built before the clock starts.


def agentevals(mode: str) -> Callable[[int], Job]:
    def prepare(count: int) -> Job:
        from agentevals.trajectory.match import create_trajectory_match_evaluator

        evaluator = create_trajectory_match_evaluator(trajectory_match_mode=mode)
        given = [(_messages(run.calls), _messages(run.expected), run.agrees) for run in made()]
        return lambda: sum(
            evaluator(outputs=actual, reference_outputs=expected)["score"] is agrees
            for actual, expected, agrees in islice(cycle(given), count)
        )

    return prepare


def _messages(calls: Sequence[Json]) -> list[Json]:
    made = [
        {"id": str(index), "function": {"name": call["name"], "arguments": json.dumps(call["args"])}}
        for index, call in enumerate(calls)
    ]
    return [
        {"role": "user", "content": "Please change my order."},
        {"role": "assistant", "content": "", "tool_calls": made},
    ]


def deepeval(count: int) -> Job:
    from deepeval.metrics import ToolCorrectnessMetric
    from deepeval.models import DeepEvalBaseLLM
    from deepeval.test_case import LLMTestCase, ToolCall, ToolCallParams

    class Unasked(DeepEvalBaseLLM):
        """The metric wants a model, and asks it nothing where no available tools are given."""

        def load_model(self) -> None:
            return None

        def generate(self, *args: object, **kwargs: object) -> str:
            raise AssertionError("no model is asked")

        async def a_generate(self, *args: object, **kwargs: object) -> str:
            raise AssertionError("no model is asked")

        def get_model_name(self) -> str:
            return "none"

    def calls(given: Sequence[Json]) -> list[object]:
        return [ToolCall(name=call["name"], input_parameters=call["args"]) for call in given]

    metric = ToolCorrectnessMetric(
        threshold=1.0,
        evaluation_params=[ToolCallParams.INPUT_PARAMETERS],
        model=Unasked(),
        async_mode=False,
        should_exact_match=True,
    )
    cases = [
        LLMTestCase(
            input="Please change my order.",
            actual_output=run.output,
            tools_called=calls(run.calls),
            expected_tools=calls(run.expected),
        )
        for run in made()
    ]

    def job() -> int:
        return sum(
            (metric.measure(case, _show_indicator=False) == 1.0) is run.agrees
            for case, run in islice(cycle(zip(cases, made(), strict=True)), count)
        )

    return job


def adk_trajectory(mode: str) -> Callable[[int], Job]:
    def prepare(count: int) -> Job:
        from google.adk.evaluation.eval_metrics import EvalMetric, ToolTrajectoryCriterion
        from google.adk.evaluation.trajectory_evaluator import TrajectoryEvaluator

        criterion = ToolTrajectoryCriterion(threshold=1.0, match_type=ToolTrajectoryCriterion.MatchType[mode])
        metric = EvalMetric(metric_name="tool_trajectory_avg_score", threshold=1.0, criterion=criterion)
        evaluator = TrajectoryEvaluator(eval_metric=metric)
        given = [(*_invocations(run), run.agrees) for run in made()]
        return lambda: sum(
            (evaluator.evaluate_invocations([actual], [expected]).overall_score == 1.0) is agrees
            for actual, expected, agrees in islice(cycle(given), count)
        )

    return prepare


def adk_rouge(count: int) -> Job:
    from google.adk.evaluation.eval_metrics import EvalMetric
    from google.adk.evaluation.final_response_match_v1 import RougeEvaluator

    evaluator = RougeEvaluator(EvalMetric(metric_name="response_match_score", threshold=0.4))
    given = [_invocations(run) for run in made()]
    return lambda: sum(
        evaluator.evaluate_invocations([actual], [expected]).overall_score >= 0.4
        for actual, expected in islice(cycle(given), count)
    )


def _invocations(run: Run) -> tuple[object, object]:
    from google.adk.evaluation.eval_case import IntermediateData, Invocation
    from google.genai import types

    def invocation(calls: Sequence[Json], text: str) -> object:
        uses = [types.FunctionCall(name=call["name"], args=call["args"]) for call in calls]
        return Invocation(
            user_content=types.Content(parts=[types.Part(text="Please change my order.")]),
            final_response=types.Content(parts=[types.Part(text=text)]),
            intermediate_data=IntermediateData(tool_uses=uses),
        )

    return invocation(run.calls, run.output), invocation(run.expected, run.reference)


def pydantic_evals(count: int) -> Job:
    from pydantic_evals import Case, Dataset
    from pydantic_evals.evaluators import Evaluator, EvaluatorContext

    @dataclass
    class Exact(Evaluator[int, list[Json], None]):
        """The whole trajectory, or nothing."""

        def evaluate(self, ctx: EvaluatorContext[int, list[Json], None]) -> bool:
            return ctx.output == ctx.expected_output

    chosen = list(_repeated(count))
    cases = [
        Case(name=str(index), inputs=index, expected_output=run.expected) for index, run in enumerate(chosen)
    ]
    dataset = Dataset(name="synthetic", cases=cases, evaluators=[Exact()])

    async def recorded(index: int) -> list[Json]:
        return chosen[index].calls

    def job() -> int:
        report = dataset.evaluate_sync(recorded, progress=False, max_concurrency=1)
        return sum(
            all(result.value for result in one.assertions.values()) is chosen[one.inputs].agrees
            for one in report.cases
        )

    return job


# Measuring.


@dataclass(frozen=True)
class Subject:
    """One row: ``prepare`` builds all that can be built before the clock starts."""

    name: str
    prepare: Callable[[int], Job]
    runs: int
    """How many runs a sample evaluates."""
    package: str = ""
    module: str = ""

    @property
    def installed(self) -> bool:
        """Whether the peer's library is there; our own rows always are."""
        return not self.module or _importable(self.module)


def _importable(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # a parent of it is not there
        return False


def match_name(mode: str, kind: str) -> str:
    return f"match_trajectory, {mode}, {kind}"


MATCHED: Final[tuple[tuple[MatchMode, str, int], ...]] = (
    ("exact", "equal", MATCH_TARGET),
    ("in_order", "equal", MATCH_TARGET),
    ("any_order", "equal", MATCH_TARGET),
    ("any_order", "shuffled", ASSIGN_TARGET),
    ("exact", "one mismatch", 0),
    ("in_order", "one mismatch", 0),
    ("any_order", "one mismatch", 0),
)
OURS: Final = (
    Subject(MANY, many, 2_000),
    Subject(RICH, many_rich, 2_000),
    Subject(PERSONAL, many_personal, 1_000),
    Subject(ONE, case_by_case, 2_000),
    Subject(GRAPH, graph, 150),
    Subject(IDLE, idle_graph, 150),
    *(Subject(match_name(mode, kind), matching(mode, kind), 10_000) for mode, kind, _ in MATCHED),
)
_AGENTEVALS: Final = ("agentevals", "agentevals")
_ADK: Final = ("google-adk", "google.adk.evaluation")
PEERS: Final = (
    Subject("agentevals, trajectory, strict", agentevals("strict"), 500, *_AGENTEVALS),
    Subject("agentevals, trajectory, unordered", agentevals("unordered"), 500, *_AGENTEVALS),
    Subject("DeepEval, tool correctness, exact", deepeval, 500, "deepeval", "deepeval"),
    Subject("ADK, trajectory, EXACT", adk_trajectory("EXACT"), 10_000, *_ADK),
    Subject("ADK, trajectory, IN_ORDER", adk_trajectory("IN_ORDER"), 10_000, *_ADK),
    Subject("ADK, trajectory, ANY_ORDER", adk_trajectory("ANY_ORDER"), 10_000, *_ADK),
    Subject("ADK, ROUGE-1", adk_rouge, 300, "rouge-score", "rouge_score"),
    Subject("pydantic-evals, exact trajectory", pydantic_evals, 1_000, "pydantic-evals", "pydantic_evals"),
)
TWO_PROCESSES: Final = Subject(TWO, two_processes, 20_000)

COUNTERPARTS: Final = {
    "agentevals, trajectory, strict": match_name("exact", "equal"),
    "agentevals, trajectory, unordered": match_name("any_order", "equal"),
    "DeepEval, tool correctness, exact": match_name("exact", "equal"),
    "ADK, trajectory, EXACT": match_name("exact", "equal"),
    "ADK, trajectory, IN_ORDER": match_name("in_order", "equal"),
    "ADK, trajectory, ANY_ORDER": match_name("any_order", "equal"),
}
"""The part of ours that does what the peer does; its other figure is the whole evaluation."""


@dataclass(frozen=True)
class Sample:
    """Microseconds a run; ``cpu`` is of all threads of the process and of the processes that it ended."""

    wall: float
    cpu: float


Samples = dict[str, list[Sample]]


def measure(subjects: Sequence[Subject], repeats: int) -> Samples:
    samples: Samples = {subject.name: [] for subject in subjects}
    gc.collect()
    gc.freeze()
    for repeat in range(repeats):
        shift = repeat % len(subjects)
        for subject in (*subjects[shift:], *subjects[:shift]):
            samples[subject.name].append(sample(subject))
        print(f"\rrepeat {repeat + 1} of {repeats}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return samples


def sample(subject: Subject) -> Sample:
    job = subject.prepare(subject.runs)
    gc.collect()
    wall, cpu = time.perf_counter(), _cpu()
    as_made = job()
    wall, cpu = time.perf_counter() - wall, _cpu() - cpu
    if as_made != subject.runs and not subject.module:
        raise RuntimeError(f"{subject.name}: {subject.runs - as_made} of {subject.runs} verdicts are wrong")
    VERDICTS[subject.name] = as_made / subject.runs
    return Sample(1e6 * wall / subject.runs, 1e6 * cpu / subject.runs)


VERDICTS: Final[dict[str, float]] = {}
"""The share of runs in which a row's verdict is the one that the run was made for."""


def _cpu() -> float:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def usable(subjects: Sequence[Subject]) -> list[Subject]:
    """Run each row once, so that imports, caches, first-use costs are not counted; leave out what fails."""
    found = []
    for subject in subjects:
        try:
            sample(subject)
        except Exception as error:
            if not subject.module:
                raise
            print(f"{subject.name:41}left out: {type(error).__name__}: {str(error)[:120]}")
        else:
            found.append(subject)
    return found


def median(samples: Sequence[Sample]) -> Sample:
    return Sample(
        statistics.median(one.wall for one in samples), statistics.median(one.cpu for one in samples)
    )


def best(samples: Sequence[Sample]) -> float:
    return min(one.cpu for one in samples)


@dataclass(frozen=True)
class Ratio:
    """Of two rows: the median of the ratios within each repeat, and the fastest run of each."""

    wall: float
    cpu: float
    best: float


def compare(own: Sequence[Sample], base: Sequence[Sample]) -> Ratio:
    """Within a repeat, what else the machine did weighs on both; the fastest runs hold least of it."""
    middle = median(
        [Sample(one.wall / other.wall, one.cpu / other.cpu) for one, other in zip(own, base, strict=True)]
    )
    return Ratio(middle.wall, middle.cpu, best(own) / best(base))


# Memory: one process of its own, whose peak is read on the way.


def peaks(sizes: Sequence[int]) -> dict[int, float]:
    """Peak resident size in MiB after as many runs, all new ones and streamed."""
    done = subprocess.run(
        [sys.executable, __file__, "--stream", *map(str, sizes)],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    return {int(size): float(peak) for size, peak in map(str.split, done.stdout.splitlines())}


def stream(sizes: Sequence[int]) -> None:
    reports = evaluate_many(run.case for run in runs(SEED + 2))
    before = 0
    for size in sorted(sizes):
        deque(islice(reports, size - before), maxlen=0)
        before = size
        print(size, _peak(), flush=True)


def _peak() -> float:
    """Peak resident size of this process in MiB."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20
    # Not getrusage: there a new process starts with the peak of the one that started it.
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


# Reporting.


def table(samples: Samples) -> None:
    print(f"{'':41}{'runs a second':^30}{'':8}{'us a run':>10}{'as made':>9}")
    print(f"{'':41}{'wall':>10}{'CPU':>10}{'best':>10}{'spread':>8}{'CPU':>10}")
    for name, own in samples.items():
        middle = median(own)
        print(f"{name:41}{1e6 / middle.wall:>10,.0f}{1e6 / middle.cpu:>10,.0f}", end="")
        print(f"{1e6 / best(own):>10,.0f}{_spread(own):>8.0%}{middle.cpu:>10.1f}{VERDICTS[name]:>9.0%}")


def _spread(samples: Sequence[Sample]) -> float:
    """From the fastest run to the slowest, as a part of the median."""
    walls = sorted(one.wall for one in samples)
    return (walls[-1] - walls[0]) / statistics.median(walls)


def ratios(samples: Samples) -> None:
    """Say how many times as fast as each peer ours is: the whole evaluation, and the part that compares."""
    present = [peer for peer in PEERS if peer.name in samples]
    if not present:
        return
    print(f"\n{'Times as fast as the peer':41}{'evaluate_many':>15}{'best':>8}{'same part':>15}{'best':>8}")
    for peer in present:
        whole = compare(samples[peer.name], samples[MANY])
        print(f"{peer.name:41}{whole.cpu:>15.2f}{whole.best:>8.2f}", end="")
        if peer.name in COUNTERPARTS:
            part = compare(samples[peer.name], samples[COUNTERPARTS[peer.name]])
            print(f"{part.cpu:>15.2f}{part.best:>8.2f}", end="")
        print()


def targets(samples: Samples) -> None:
    print(f"\n{'Targets':61}{'wall':>14}{'CPU':>14}{'best CPU':>14}")
    _at_least(MANY, samples[MANY], RATE_TARGET)
    for mode, kind, target in MATCHED:
        if target:
            name = match_name(mode, kind)
            _at_least(name, samples[name], target)
    over = compare(samples[GRAPH], samples[IDLE])
    values = [(f"{value:.2f}", value <= GRAPH_TARGET) for value in (over.wall, over.cpu, over.best)]
    _verdicts(f"<= {GRAPH_TARGET}  graph / as many idle nodes", values)


def _at_least(name: str, own: Sequence[Sample], target: int) -> None:
    middle = median(own)
    rates = [1e6 / one for one in (middle.wall, middle.cpu, best(own))]
    _verdicts(f">= {target:,}  {name}, a second", [(f"{rate:,.0f}", rate >= target) for rate in rates])


def _verdicts(what: str, values: Sequence[tuple[str, bool]]) -> None:
    print(f"{what:61}", end="")
    for shown, reached in values:
        print(f"{shown:>9} {'pass' if reached else 'FAIL'}", end="")
    print()


def parallel(repeats: int) -> None:
    """One process and two on the same batch; the start of the processes counts."""
    samples = measure([Subject(MANY, many, TWO_PROCESSES.runs), TWO_PROCESSES], repeats)
    print(f"\n{f'A batch of {TWO_PROCESSES.runs:,}':41}{'wall a second':>14}{'best':>10}{'us CPU':>10}")
    for name, own in samples.items():
        walls = [one.wall for one in own]
        print(f"{name:41}{1e6 / statistics.median(walls):>14,.0f}{1e6 / min(walls):>10,.0f}", end="")
        print(f"{median(own).cpu:>10.1f}")
    print(f"two processes / one, wall: {compare(samples[MANY], samples[TWO]).wall:.2f} times as fast")


def memory(sizes: Sequence[int]) -> None:
    found = peaks(sizes)
    print(
        "\nPeak memory of evaluate_many: "
        + ", ".join(f"{size:,} runs {found[size]:.1f} MiB" for size in sizes)
    )
    grown = found[sizes[-1]] / found[sizes[0]]
    what = f"<= {MEMORY_TARGET}  peak after {sizes[-1]:,} / after {sizes[0]:,} runs"
    _verdicts(what, [(f"{grown:.3f}", grown <= MEMORY_TARGET)])


def noise(samples: Samples) -> None:
    """Rows of one thread that only compute: their wall time above CPU time is what others took."""
    alone = samples[MANY] + samples[ONE]
    taken = statistics.median(one.wall / one.cpu for one in alone)
    print(f"\nMachine: {'busy, trust the CPU columns' if taken > BUSY else 'quiet'}; ", end="")
    print(f"wall / CPU of our rows {taken:.2f}, load ", end="")
    print(" ".join(f"{load:.1f}" for load in os.getloadavg()) + f" on {os.cpu_count()} CPUs")


def environment() -> None:
    peers = dict.fromkeys(peer.package for peer in PEERS if peer.installed)
    names = ["langgraph", "pydantic", "rapidfuzz", *peers]
    print(f"Python {sys.version.split()[0]}, " + ", ".join(f"{name} {_version(name)}" for name in names))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "of unknown version"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--repeats", type=int, default=7, help="samples of each row (default 7)")
    parser.add_argument("--shorter", type=int, default=1, help="times as short a sample (default 1)")
    parser.add_argument("--batches", type=int, default=3, help="samples with two processes (default 3)")
    parser.add_argument("--million", action="store_true", help="memory up to 1,000,000 runs (minutes)")
    parser.add_argument("--stream", type=int, nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.stream:
        stream(options.stream)
        return

    environment()
    present = [*OURS, *(peer for peer in PEERS if peer.installed)]
    shorter = [replace(one, runs=max(1, one.runs // options.shorter)) for one in present]
    samples = measure(usable(shorter), options.repeats)
    table(samples)
    for peer in PEERS:
        if not peer.installed:
            print(f"{peer.name:41}not installed (uv run --with {peer.package} ...)")
    ratios(samples)
    targets(samples)
    if options.batches:
        parallel(options.batches)
    memory([10_000, 100_000, *([1_000_000] if options.million else [])])
    noise(samples)


if __name__ == "__main__":
    main()
