"""Builds the case of an execution and evaluates it, with the monitor or another judge as the judge.

The words of an output are compared with the calls of the run, of all its steps and attempts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from langchain_core.runnables import RunnableConfig

from agents.loop.langgraph_internals import build_nested_config, read_config
from agents.prompts import find_marks
from evaluation import (
    ContractError,
    build_evaluation_graph,
)
from evaluation.checks.contract_checks import FunctionCheck, require_checks
from evaluation.checks.kinds.tools import SourcedFacts
from evaluation.contract.requirements import Contract
from evaluation.contract.run import convert_calls, convert_usage, run_from_state
from evaluation.graph import EvaluationGraph
from evaluation.plugins import AnyJudge, JudgeFunction, Plugins, check_judge
from orchestrator.errors import ConfigurationError
from orchestrator.judging.contract_choice import Demand
from orchestrator.judging.evidence import ACCEPTING
from orchestrator.judging.judging_calls import Judges, Judging
from orchestrator.runtime.bounded_call import RunContext
from orchestrator.state.graph_state import (
    OrchestratorState,
    apply_update,
    current_records,
    list_corrections,
    list_records,
    read_place,
    records_field,
)
from orchestrator.state.records import Attempt, CallOrigin, Grounding, Report

MAX_CONTEXT: Final = 4000
"""Most characters of the context in a run: the last ones, which are the newest results."""
_ADVICE: Final = "Reply with the result alone, without the marked lines of the request"


def build_agent_run(record: Attempt, context: str) -> dict[str, object]:
    """Build the ``agent_run`` of one execution of a step.

    Args:
        record: The execution.
        context: The context of the executor; its last ``MAX_CONTEXT`` characters are kept.

    Returns:
        The fields of an ``AgentRun``. A value that was not measured is absent: unknown tokens and cost, and
        the number of model calls if none was seen, for instance of an agent that uses another library. An
        execution that ended in an error has no ``final_output``.
    """
    output = record["result"] if record["error"] is None else None
    # Not those answered from a call of this execution; one of another execution need not be made again.
    own = CallOrigin(step_index=record["step_index"], attempt=record["attempt"])
    calls = [call for call in record["tool_calls"] if call.get("made_in") != own]
    known = {"final_output": output, "error": record["error"], "model": record["model"]}
    return {
        "input": record["step"],
        **convert_calls(calls),
        "messages": _build_messages(context, record, output),
        **{name: value for name, value in known.items() if value is not None},
        **convert_usage(record["usage"]),
        "retries": record["transport_retries"],
        "metadata": _label_execution(record),
    }


def _label_execution(record: Attempt) -> dict[str, object]:
    return {
        "step_index": record["step_index"],
        "attempt": record["attempt"],
        "timestamp": record["started_at"],
    }


def build_whole_run(state: OrchestratorState, record: Attempt) -> dict[str, object]:
    """Build the ``agent_run`` of the whole run so far, as if it ended with this execution.

    It is the run that ``evaluation.run_from_state`` reads from the end of the run, so that a contract decides
    the same about a live and a recorded run. Raises nothing for a state of the orchestrator.
    """
    status, output = ("success", record["result"]) if record["error"] is None else ("failed", None)
    judged = {records_field(state): [{**record, "status": "validated"}], "status": status, "output": output}
    run = run_from_state(apply_update(state, judged))
    # A judge reads the context of this execution in the messages.
    messages = _build_messages(state["context"], record, output)
    return {**run, "messages": messages, "metadata": _label_execution(record)}


def _build_messages(context: str, record: Attempt, output: str | None) -> list[dict[str, str]]:
    requests = [_cut_context(context), record["step"]] if context else [record["step"]]
    messages = [{"role": "user", "content": text} for text in requests]
    if output is None:
        return messages
    reason = {"finish_reason": record["cut_off"]} if "cut_off" in record else {}
    return [*messages, {"role": "assistant", "content": output, **reason}]


def _cut_context(context: str) -> str:
    left_out = len(context) - MAX_CONTEXT
    if left_out <= 0:
        return context
    return f"[the first {left_out} characters of the context are left out]\n{context[left_out:]}"


def add_own_checks(contract: Contract, state: OrchestratorState, record: Attempt) -> Contract:
    """Returns the contract with a rule for each of our checks that the execution does not pass."""
    own = {"id": "repeated_prompt", "category": "contract", "recommended_action": _ADVICE}
    marks = find_repeated_marks(state, record)
    rules = [{**own, "forbidden": {"text": mark, "where": "final_output"}} for mark in marks]
    return contract.join(Contract.read({"audit": {"rules": rules}}, "own")) if rules else contract


def find_repeated_marks(state: OrchestratorState, record: Attempt) -> list[str]:
    """Finds the marks of our prompts in an output. A mark is in no text that it fences.

    So one that the task, the step, the context or a tool holds is no mark of this request, and may be quoted.
    """
    marks = find_marks(record["result"])
    if not marks:
        return []
    tools = [f"{call['args']}{call['result']}{call['error']}" for call in record["tool_calls"]]
    texts = (state["task"], record["step"], state["context"], *tools)
    return [mark for mark in marks if not any(mark in text for text in texts)]


class Evaluator:
    """Evaluates executions.

    Args:
        judges: Who decides: the monitor or another judge, and the tools that checks ask.
        plugins: Further inputs of the evaluation; the judges take the place of its judge.
        grounding: Whether an output is compared with the calls of the run.

    Attributes:
        graph: The evaluation graph, as drawings and listings show it.
    """

    def __init__(self, judges: Judges, plugins: Plugins, grounding: Grounding) -> None:
        self.judges = judges
        self.graph: EvaluationGraph = build_evaluation_graph()
        self._grounding = grounding
        self._plugins = plugins
        # LangGraph does not list a graph that is compiled without checkpoints; the one that runs keeps none,
        # since it is cheap to start again.
        unstored = self.graph.copy({"checkpointer": False})
        self._unstored_graph = unstored.with_config(recursion_limit=len(unstored.nodes))

    async def evaluate(
        self, state: OrchestratorState, record: Attempt, demands: Sequence[Demand], run: RunContext
    ) -> tuple[Demand, Judging]:
        """Evaluate the latest execution of the current step; after a refusal, no further demand is evaluated.

        If the run has failed, no judge is asked: deterministic checks alone decide.

        Returns:
            The demand that was evaluated last, and the judging with the calls for all and the last report.

        Raises:
            GraphInterrupt: The judge raised an interrupt that can be answered later.
        """
        judging = Judging(self.judges, state, record, run)
        for demand in demands:
            judging.verdict = None
            judging.report = await self._evaluate(demand, judging)
            if judging.report["status"] not in ACCEPTING:
                break
        return demand, judging

    async def _evaluate(self, demand: Demand, judging: Judging) -> Report:
        state, record = judging.state, judging.record
        checked = add_grounding(add_own_checks(demand.contract, state, record), record, self._grounding)
        run = build_whole_run(state, record) if demand.is_run else build_agent_run(record, state["context"])
        stated = [each.check for each in checked.requirements]
        is_compared = checked.rules.audit.defects != "off"
        if is_compared or any(isinstance(each, SourcedFacts) for each in stated):
            run |= list_evidence(state, record, is_run=demand.is_run)
        final = await self._run(judging, {"contract": checked, "agent_run": run})
        if judging.interrupt is not None:
            raise judging.interrupt
        return cast("Report", final["evaluation_report"])

    async def _run(self, judging: Judging, case: Mapping[str, object]) -> Mapping[str, object]:
        record = judging.record
        place = {"step_index": record["step_index"], "attempt": record["attempt"]}
        named = RunnableConfig(run_name=f"evaluate step {record['step_index'] + 1}", metadata=place)
        config = RunnableConfig(**{**build_nested_config(read_config(), RunContext), **named})
        # One compiled graph serves all runs, each evaluation with its own judge as the context.
        plugins = replace(self._plugins, judge=judging, call_check=judging.run_check)
        return await self._unstored_graph.ainvoke({**case}, config, context=plugins)


def add_grounding(contract: Contract, record: Attempt, grounding: Grounding) -> Contract:
    """Returns the contract with the search for defects.

    A defect refuses the output, with both sides in words; a suspicion is a warning. A contract with the check
    ``sourced_facts`` decides for itself, and so does one that asks for more.
    """
    is_stated = any(isinstance(each.check, SourcedFacts) for each in contract.requirements)
    is_off = grounding == "off" or record["error"] is not None or is_stated
    return contract.with_search("off" if is_off else "warn")


def list_evidence(state: OrchestratorState, record: Attempt, *, is_run: bool) -> dict[str, object]:
    """Lists the fields of an ``agent_run`` besides its own calls: earlier calls, and texts with facts.

    Args:
        state: The state of the run.
        record: The execution.
        is_run: Whether the whole run is evaluated, which has its own evidence, so that the recorded one is
            judged alike.
    """
    if is_run:
        return {"earlier_calls": []}
    acted = [each for each in list_records(state) if each["tool_calls"]]
    made = [(read_place(each), call) for each in acted for call in each["tool_calls"]]
    calls = [call for place, call in made if place != read_place(record)]
    return {"sources": _list_sources(state), "earlier_calls": convert_calls(calls)["tool_calls"]}


def _list_sources(state: OrchestratorState) -> list[str]:
    """Lists the texts that an output may take facts from, besides calls."""
    own = current_records(state)
    asked = [*(record["step"] for record in own[-1:]), *list_corrections(own)]
    return [state["task"], state["context"], *asked]


def read_plugins(options: Mapping[str, object], checks: Sequence[FunctionCheck]) -> Plugins:
    """Reads the plug-ins of the evaluation from the options of an orchestrator.

    Args:
        options: The options; ``evaluation``, ``judge`` and ``checks`` are read.
        checks: Further checks that contracts can name.

    Raises:
        ConfigurationError: One is not accepted.
    """
    stated: Any = options.get("evaluation") or {}
    try:
        given: dict[str, Any] = {**stated}
        named = (*given.pop("named_checks", ()), *require_checks(options.get("checks", ())), *checks)
        judge = check_judge(cast("AnyJudge | JudgeFunction | None", options.get("judge")))
        return Plugins(judge=judge, named_checks=named, **given)
    except ContractError as error:
        raise ConfigurationError(str(error)) from None
    except TypeError as error:
        raise ConfigurationError(f"evaluation: {error}; give the plug-ins of evaluate, as a dict") from None
