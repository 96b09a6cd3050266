"""What a success is worth in worlds of tools with planted failures, for a model that errs by chance.

    uv run python -m benchmarks.tool_worlds

No model that fits the machine calls tools, so the model is drawn: at each attempt it looks up and acts as
it should, or states another number, acts on another order, or says that it is done without a call. The
tools fail, too: every third write has no effect although it answers "ok", and every fourth call raises. The
contract states the content: a number, or the call that acts, whose effect is read back. Right is what holds
in the world at the end.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool

from agents import ActingTool, ExecutionAgent
from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract
from evaluation.statistics import proportion
from orchestrator import LangGraphOrchestrator, RetryPolicy

_RIGHT: Final = 0.6
"""How often the drawn model does an attempt as it should."""
_ERRORS: Final = ("other number", "other order", "no call")


@dataclass
class World:
    """A shop with orders, and the tools that read and write it; every third write is lost.

    Attributes:
        noun: What the world calls its entries.
        verb: What its writing tool does.
        number: The number that a lookup finds.
        states: The state of each entry.
    """

    noun: str
    verb: str
    number: int
    states: dict[int, str] = field(default_factory=lambda: {7: "open", 8: "open"})
    calls: int = 0
    writes: int = 0

    def list_tools(self) -> list[BaseTool]:
        """Builds the tools: one reads, the other one writes."""
        read = StructuredTool.from_function(self._read, name=f"get_{self.noun}", description="Read it.")
        write = StructuredTool.from_function(
            self._write, name=f"{self.verb}_{self.noun}", description="Change it."
        )
        read.metadata = {"readOnlyHint": True}
        return [read, write]

    def _read(self, key: int) -> dict[str, object]:
        self._fail_sometimes()
        return {"id": key, "amount": self.number if key == 7 else 3, "status": self.states[key]}

    def _write(self, key: int) -> str:
        self._fail_sometimes()
        self.writes += 1
        if self.writes % 3:
            self.states[key] = self.verb
        return "ok"

    def _fail_sometimes(self) -> None:
        self.calls += 1
        if self.calls % 4 == 0:
            raise TimeoutError("the service did not answer")


@dataclass
class DrawnModel:
    """Replies like a model that knows its tools and errs by chance: one draw for each attempt."""

    world: World
    is_write: bool
    chance: random.Random
    error: str = ""

    def __call__(self, messages: list[BaseMessage]) -> AIMessage | str:
        """Return the reply to a prompt: a verdict, a tool call, or an answer."""
        if "success" in messages[0].text and "feedback" in messages[0].text:
            return '{"success": true, "feedback": "good"}'
        answers = [message for message in messages if isinstance(message, ToolMessage)]
        if not answers:
            wrong = self.chance.random() > _RIGHT
            self.error = self.chance.choice(_ERRORS) if wrong else ""
            return self._report() if self.error == "no call" else self._call_tool()
        return self._report()

    def _call_tool(self) -> AIMessage:
        name = f"{self.world.verb if self.is_write else 'get'}_{self.world.noun}"
        key = 8 if self.error == "other order" else 7
        return AIMessage("", tool_calls=[{"name": name, "args": {"key": key}, "id": "1"}])

    def _report(self) -> str:
        if self.is_write:
            return f"The {self.world.noun} 7 is done."
        number = self.world.number + (self.error == "other number")
        return f"The amount of {self.world.noun} 7 is {3 if self.error == 'other order' else number}."


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of a run: whether it was claimed, what on, and whether the world is as asked for."""

    is_claimed: bool
    basis: str | None
    is_right: bool


def run_trial(world: World, model: ScriptedChatModel, *, is_write: bool, is_single: bool) -> Trial:
    """Runs one task: with the defaults of ``from_model``, or as a single attempt that is believed."""
    tools, noun = world.list_tools(), world.noun
    task = f"{world.verb.title()} the {noun} 7." if is_write else f"What is the amount of {noun} 7?"
    if is_single:
        output, is_claimed, basis = ExecutionAgent(model, tools).execute_step(task), True, None
    else:
        act = f"{world.verb}_{noun}"
        effect = {
            "expected_trajectory": [{"name": act, "args": {"key": 7}}],
            "trajectory": {"acting_tools": [act]},
        }
        fields = effect if is_write else {"required_content": [{"number": world.number}]}
        orchestrator = LangGraphOrchestrator.from_model(
            model,
            tools=tools,
            planning="never",
            contract=EvaluationContract.model_validate(fields),
            acting_tools={act: ActingTool(read_back=f"get_{noun}", succeeded={"/status": world.verb})},
            retry_policy=RetryPolicy(max_retries=2),
        )
        state = orchestrator.run(task)
        output, is_claimed, basis = state["output"] or "", state["status"] == "success", state["basis"]
    is_done = world.states[7] == world.verb if is_write else str(world.number) in output
    return Trial(is_claimed, basis, is_done)


def measure(trials: int, *, is_single: bool) -> list[Trial]:
    """Runs the trials in ten worlds, lookups and writes by turns."""
    nouns = ("order", "ticket", "loan", "room", "parcel", "account", "visit", "seat", "lease", "claim")
    verbs = ("refund", "close", "extend", "cancel", "return")
    measured = []
    for number in range(trials):
        chance = random.Random(number)
        world = World(nouns[number % 10], verbs[number % 5], chance.randint(11, 999))
        world.calls, world.writes = chance.randrange(4), chance.randrange(3)
        is_write = chance.random() < 0.5
        model = ScriptedChatModel(DrawnModel(world, is_write, chance))
        measured.append(run_trial(world, model, is_write=is_write, is_single=is_single))
    return measured


def describe(name: str, trials: Sequence[Trial]) -> str:
    """Formats the figures of an arm as a row of a table."""

    def share(is_hit: Callable[[Trial], bool], among: Sequence[Trial]) -> str:
        hits = sum(map(is_hit, among))
        low, high = proportion(hits, len(among)).interval or (0.0, 1.0)
        return f"{hits} of {len(among)} ({low:.2f} to {high:.2f})"

    claims = [trial for trial in trials if trial.is_claimed]
    right = [trial for trial in trials if trial.is_right]
    wrong = share(lambda trial: not trial.is_right, claims)
    claimed = share(lambda trial: trial.is_claimed, right)
    checked = sum(trial.basis == "checked" for trial in claims)
    return f"| {name} | {len(right)} | {len(claims)} | {wrong} | {checked} | {claimed} |"


def main() -> None:
    """Measures a single attempt and the defaults in the same worlds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=300)
    trials = parser.parse_args().trials
    print("| arm | right | claims | claims that are wrong | `checked` | right ones that are claimed |")
    print("|---|---|---|---|---|---|")
    print(describe("one attempt", measure(trials, is_single=True)))
    print(describe("the defaults, with a contract", measure(trials, is_single=False)))


if __name__ == "__main__":
    main()
