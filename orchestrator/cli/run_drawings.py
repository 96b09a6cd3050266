"""Draws runs: events, plans, attempts with their verdicts, tool calls. Texts of models are never markup."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult, group
from rich.text import Text

from agents.reply_types import HumanAnswer
from evaluation.values import count_noun
from orchestrator import events
from orchestrator.cli.consoles import clean, format_usage, one_line
from orchestrator.persistence import RunSummary, StoredRun
from orchestrator.retry.policy import find_best_answer
from orchestrator.service.run_view import list_checks, list_effects_under_way
from orchestrator.state.graph_state import (
    ENDED,
    OrchestratorState,
    list_records,
    read_basis_reason,
    sum_usage,
)
from orchestrator.state.records import (
    NO_USAGE,
    Attempt,
    Question,
    RecordStatus,
    ToolCallRecord,
    Usage,
)

VERDICTS: Final[Mapping[RecordStatus, tuple[str, str]]] = {
    "validated": ("accepted", "green"),
    "failed": ("refused", "yellow"),
    "needs_review": ("not judged", "yellow"),
    "pending_validation": ("pending", "dim"),
}
"""The words and the style for the status of an execution."""
_WHOLE: Final = 1_000_000
_SHOWN: Final = 100
"""Most characters of a check, and of the arguments, the answer and the error of a call."""


def name_attempt(step_index: int, attempt: int, steps: int) -> str:
    """Names an execution of a step of ``steps``; the index after the last is the final answer."""
    step = f"step {step_index + 1} of {steps}" if step_index < steps else "final answer"
    return f"{step}, attempt {attempt}"


def describe_verdict(record: Attempt, steps: int, usage: Usage) -> Text:
    """Describes how an execution was judged, in one line: the verdict, this usage, the reason, warnings."""
    verdict, style = VERDICTS[record["status"]]
    name = name_attempt(record["step_index"], record["attempt"], steps)
    reasons = "; ".join(filter(None, map(one_line, [last_word(record), *record["warnings"]])))
    return Text.assemble(
        f"{name} ", (verdict, style), f" ({format_usage(usage)})", f": {reasons}" if reasons else ""
    )


def list_details(record: Attempt) -> Iterator[str]:
    """Yields the output of an execution line by line, and the checks of its verdict."""
    yield from (f"  | {line}" for line in clean(record["result"]).splitlines())
    for check in list_checks(record):
        word = {None: "not decided", True: "passed", False: "failed"}[check["passed"]]
        yield f"  check {word}: {one_line(check['wanted'])} ({one_line(check['seen'])})"


def last_word(record: Attempt) -> str:
    """Returns the last decision on an execution: of a person, supervisor or monitor; else its error."""
    supervision, verdict = record["supervision"], record["verdict"]
    if supervision is not None and supervision["answer"] is not None:
        return _format_answer(supervision["answer"])
    if supervision is not None and (said := supervision["verdict"]) is not None:
        reason = said["reason"] or said["correction"] or said["question"]
        return f"the supervisor says {said['verdict']}: {reason}".rstrip(": ")
    # The words of a judge that accepts tell nothing that is left to do.
    if verdict is None or record["status"] == "validated":
        return record["error"] or ""
    return verdict["feedback"]


def _format_answer(answer: HumanAnswer) -> str:
    return f"{answer['answered_by']} says {answer['answer']}: {answer['text']}".rstrip(": ")


def format_tool_call(call: ToolCallRecord, limit: int = _SHOWN) -> str:
    """Formats a call on one line: its name, its arguments, its gate or effect, an answer, and its error.

    Args:
        call: The call.
        limit: Most characters of each part.
    """
    parts = [f"{call['name']} {'' if call['args'] is None else json.dumps(call['args'], ensure_ascii=False)}"]
    parts += filter(None, [call.get("gate") or call.get("outcome")])
    parts += [_format_answer(call["answer"])] if "answer" in call else []
    parts += [] if call["error"] is None else [f"failed: {call['error']}"]
    return ", ".join(one_line(part, limit) for part in parts)


def describe_event(event: events.Event, steps: int) -> Text | None:
    """Describes an event in one line; None if the next one says more.

    Args:
        event: The event.
        steps: Number of steps in the plan after the event.
    """
    match event:
        case events.RunStarted():
            return Text(f"task: {one_line(event.task)}", style="bold")
        case events.RunResumed():
            return Text(f"task, resumed: {one_line(event.state['task'])}", style="bold")
        case events.Planned():
            return Text(f"plan of {count_noun(len(event.plan), 'step')} ({format_usage(event.usage)})")
        case events.Replanned():
            counts = f"{count_noun(len(event.plan), 'step')}, {len(event.replaced)} given up"
            return Text(f"planned again, {counts} ({format_usage(event.usage)} so far)")
        case events.RunFinished() | events.RunInterrupted():
            return describe_end(event.state)
        case _:
            return _describe_step_event(event, steps)


def _describe_step_event(event: events.Event, steps: int) -> Text | None:
    match event:
        case events.StepStarted():
            name = name_attempt(event.step_index, event.attempt, steps)
            return Text(f"{name}: {one_line(event.step)}", style="cyan")
        case events.StepJudged(record=record):
            return describe_verdict(record, steps, record["judge_usage"] or NO_USAGE)
        case events.RunPaused(question=question):
            name = name_attempt(question["step_index"], question["attempt"], steps)
            return Text(f"{name} waits for an answer: {one_line(question['text'])}", style="bold yellow")
        case events.ToolEnded():
            caller = "the planner" if event.step_index is None else f"step {event.step_index + 1}"
            name, error = one_line(event.call["name"]), event.call["error"]
            end = "answered" if error is None else f"{event.call.get('gate', 'failed')}: {one_line(error)}"
            return Text(f"{caller}: the tool {name} {end}")
        case _:
            return None


def describe_end(state: OrchestratorState) -> Text:
    """Describes the state of a run that does not go on: its status, what it rests on, and its totals."""
    status = state["status"] if state["status"] in ENDED else "interrupted"
    failure, basis = state["failure"], one_line(read_basis_reason(state))
    reason = basis if failure is None else f"{failure['kind']}: {one_line(failure['message'])}"
    done = {record["step_index"] for record in state["results"] if record["status"] == "validated"}
    steps = f"{len(done)} of {count_noun(len(state['plan']) - len(state['replaced']), 'step')}"
    totals = [steps, format_usage(state["usage"])]
    totals += [count_noun(len(state["warnings"]), "warning")] if state["warnings"] else []
    style = {"success": "green", "failed": "bold red"}.get(status, "yellow")
    head = f"Done. {reason}" if status == "success" and reason else ": ".join(filter(None, [status, reason]))
    return Text(f"{head} ({', '.join(totals)})", style=style)


_TEXT_CHARACTERS: Final = 200


def add_best_attempt(state: OrchestratorState) -> dict[str, object]:
    """Returns the state, with the ``best_attempt`` of a run that failed."""
    best = find_best_answer(state) if state["status"] == "failed" else None
    return {**state, **({} if best is None else {"best_attempt": best["result"]})}


def draw_runs(runs: Sequence[RunSummary]) -> Text:
    """Draws one line per run under a heading."""
    # Rich's tables break or cut lines at the width of the console, which a pipe does not have.
    width = max((len(run.thread_id) for run in runs), default=0)
    heading = f"{'thread':{width}}  {'status':11}  {'steps':5}  {'stored':19}  task"
    return Text("\n").join([Text(heading, style="bold"), *(Text(_format_row(run, width)) for run in runs)])


def _format_row(run: RunSummary, width: int) -> str:
    steps = f"{run.steps_done}/{run.steps_planned}"
    head = f"{one_line(run.thread_id):{width}}  {run.status:11}  {steps:5}  {_format_time(run.updated)}"
    note = " (`resume` judges it again)" if run.judged_again else ""
    return f"{head}  {one_line(run.task, _TEXT_CHARACTERS)}{note}"


@group()
def draw_run(run: StoredRun) -> Iterator[RenderableType]:
    """Draws one run: its plan, its executions, and its question or outcome."""
    summary, state = run.summary, run.state
    started = "" if summary.started is None else f", started {_format_time(summary.started)}"
    yield Text(f"Task: {one_line(summary.task)}", style="bold")
    yield Text(f"Status: {summary.status}{started}, stored {_format_time(summary.updated)}")
    yield Text(f"Used: {format_usage(state['usage'])}")
    for index, step in enumerate(state["plan"]):
        replaced = " (given up)" if index in state["replaced"] else ""
        yield Text(f"  {index + 1}. {one_line(step)}{replaced}")
    yield from (_draw_execution(record, len(state["plan"])) for record in list_records(state))
    for effect in list_effects_under_way(state):
        place = name_attempt(effect["step_index"], effect["attempt"], len(state["plan"]))
        call = one_line(f"{effect['name']} {json.dumps(effect['args'], ensure_ascii=False)}", _SHOWN)
        yield Text(f"{place}, under way: {call}, {effect['outcome']}")
    if summary.question is not None:
        yield draw_question(summary.question)
    elif summary.status in ENDED:
        yield draw_outcome(state)


def _draw_execution(record: Attempt, steps: int) -> Text:
    lines = [*(f"  {format_tool_call(call)}" for call in record["tool_calls"]), *list_details(record)]
    if (decision := record.get("decision")) is not None and decision["use"] != "accept":
        lines.append(f"  then {one_line(decision['use'])}: {one_line(decision['reason'], _TEXT_CHARACTERS)}")
    time = _format_time(datetime.fromisoformat(record["started_at"]))
    verdict = describe_verdict(record, steps, sum_usage(record))
    return Text.assemble(f"{time} ", verdict, *(f"\n{line}" for line in lines))


@group()
def draw_warnings(state: OrchestratorState) -> Iterator[RenderableType]:
    """Draws each warning of a run."""
    yield from (Text(f"Warning: {one_line(warning)}", style="yellow") for warning in state["warnings"])


@group()
def draw_outcome(state: OrchestratorState) -> Iterator[RenderableType]:
    """Draws how a run ended: the warnings, and the result, or the failure and the best attempt."""
    yield draw_warnings(state)
    if state["status"] == "failed" and (best := find_best_answer(state)) is not None:
        yield Text("\nBest attempt, which was not accepted", style="bold")
        yield Text(clean(best["result"]).strip("\n"))
    yield Text.assemble("\n", describe_end(state))
    if state["status"] == "success":
        yield Text("\nResult", style="bold green")
        yield Text(get_output(state))


def get_output(state: OrchestratorState) -> str:
    """Returns the output of a successful run, safe for a terminal."""
    return clean(state["output"] or "").strip("\n") or "(empty)"


def _format_time(time: datetime) -> str:
    """Formats a time in the time zone of this machine."""
    return f"{time.astimezone():%Y-%m-%d %H:%M:%S}"


_MARGIN: Final = "│ "


@group()
def draw_question(question: Question) -> Iterator[RenderableType]:
    """Draws a question: its step, the tool calls, the output and the findings."""
    step, attempt = question["step_index"] + 1, question["attempt"]
    yield Text(f"Step {step}, attempt {attempt}, waits for an answer", style="bold yellow")
    yield _Quotation(Text(one_line(question["step"])))
    if question["problem"] is not None:
        yield Text(f"The previous answer was not accepted: {one_line(question['problem'])}", style="red")
    # A person decides on all of the arguments.
    calls = [Text(format_tool_call(call, _WHOLE)) for call in question.get("tool_calls") or ()]
    output = [Text(clean(question["output"]).strip("\n"))] if question["output"] else []
    findings = [Text(f"- {one_line(finding)}") for finding in question["findings"]]
    yield from _draw_part("Question", [Text(one_line(question["text"], 2000))])
    yield from _draw_part("Tool calls", calls)
    yield from _draw_part("Output", output)
    yield from _draw_part("Findings", findings)


def _draw_part(heading: str, texts: Sequence[Text]) -> Iterator[RenderableType]:
    if texts:
        yield Text(f"{heading}:", style="bold")
        yield from map(_Quotation, texts)


@dataclass(frozen=True, slots=True)
class _Quotation:
    """A text with a margin on every line, so that a model cannot imitate our own words."""

    text: Text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = max(1, options.max_width - len(_MARGIN))
        for line in (
            self.text.split("\n", allow_blank=True) if options.no_wrap else self.text.wrap(console, width)
        ):
            yield Text.assemble((_MARGIN, "dim"), line)
