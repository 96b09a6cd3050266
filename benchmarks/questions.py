"""Compares one call of a model with runs of the orchestrator, on 120 questions with one right answer.

    uv run python -m benchmarks.questions --arm one-call --arm defaults --held-out
    uv run python -m benchmarks.questions --arm planned --model ollama:qwen3
    uv run --with pydantic-ai-slim --with crewai python -m benchmarks.questions --arm pydantic-ai --arm crewai

Every second question is held out. An answer is right if it has content and form: the answer as a
word, and no more words than allowed. A run that failed counts with its best attempt, which is what it shows.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Final, cast

from langchain_core.language_models import BaseChatModel

from agents import load_model
from agents.models.model_call import Model
from benchmarks.effect.arms.base import Arm as Peer
from benchmarks.effect.arms.base import Trial
from benchmarks.effect.arms.crewai import CrewAI
from benchmarks.effect.arms.pydantic_ai import PydanticAI
from benchmarks.effect.models import Meter
from benchmarks.effect.prompts import Prompt
from evaluation.statistics import paired_difference, proportion
from orchestrator import LangGraphOrchestrator
from orchestrator.retry.policy import find_best_answer
from orchestrator.settings import PlanningMode

_RETRIES: Final = 3
QUESTIONS: Final = Path(__file__).with_suffix(".jsonl")


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its only answer.

    Attributes:
        kind: "fact", "sum", or "data" that the question brings along.
        question: The text.
        answer: A regular expression of the answer, as a word of its own.
        most_words: The words that the question allows.
    """

    kind: str
    question: str
    answer: str
    most_words: int

    def has_content(self, text: str) -> bool:
        """Whether a text has the answer."""
        return re.search(rf"(?i)(?<!\w)(?:{self.answer})(?!\w)", text) is not None

    def has_form(self, text: str) -> bool:
        """Whether a text has no more words than allowed."""
        return len(re.findall(r"[\w₂]+", text)) <= self.most_words


@dataclass(frozen=True, slots=True)
class Given:
    """An answer: its text, whether it is claimed, what the claim rests on, and its cost."""

    text: str
    claimed: bool = True
    basis: str | None = None
    calls: int = 1
    seconds: float = 0.0


Arm = Callable[[Model, str], Given]


def call_once(model: Model, question: str) -> Given:
    """Asks the model once."""
    return Given(str(model.invoke(question).text))


def orchestrate(planning: PlanningMode) -> Arm:
    """Asks the orchestrator that ``from_model`` builds."""

    def ask(model: Model, question: str) -> Given:
        orchestrator = LangGraphOrchestrator.from_model(model, planning=planning)
        state = orchestrator.run(question)
        best = find_best_answer(state)
        shown = state["output"] or (best["result"] if best else "")
        calls = state["usage"]["model_calls"] or 0
        return Given(shown, state["status"] == "success", state["basis"], calls)

    return ask


def ask_peer(peer: Peer) -> Arm:
    """Asks another framework with the model as the judge."""

    def ask(model: Model, question: str) -> Given:
        meter = Meter()
        counted = cast("BaseChatModel", model).model_copy(update={"callbacks": [meter]})
        answer = peer.answer(Trial(Prompt(0, question, ()), counted, _RETRIES, lambda _: False))
        return Given(answer.output, answer.claimed is True, calls=meter.totals.calls)

    return ask


ARMS: Final[Mapping[str, Arm]] = {
    "one-call": call_once,
    "defaults": orchestrate("auto"),
    "planned": orchestrate("always"),
    "pydantic-ai": ask_peer(PydanticAI()),
    "crewai": ask_peer(CrewAI()),
}


def read_questions(*, held_out: bool) -> list[Question]:
    """Reads a half of the questions."""
    rows = QUESTIONS.read_text(encoding="utf-8").splitlines()
    return [Question(**json.loads(row)) for row in rows[held_out::2]]


def measure(arm: Arm, model: Model, questions: Sequence[Question]) -> list[Given]:
    """Asks every question once."""
    given = []
    for question in questions:
        start = time.perf_counter()
        answer = arm(model, question.question)
        seconds = time.perf_counter() - start
        given.append(Given(answer.text, answer.claimed, answer.basis, answer.calls, seconds))
    return given


def describe(name: str, questions: Sequence[Question], given: Sequence[Given]) -> str:
    """Formats the figures of an arm as a row of a table."""
    pairs = [*zip(questions, given, strict=True)]
    content = [question.has_content(each.text) for question, each in pairs]
    form = [question.has_form(each.text) for question, each in pairs]
    right = [*map(all, zip(content, form, strict=True))]
    claims = [ok for ok, each in zip(content, given, strict=True) if each.claimed]
    checked = sum(each.basis in {"checked", "judged"} for each in given)
    interval = proportion(sum(right), len(right)).interval or (0.0, 1.0)
    return (
        f"| {name} | {sum(content)} | {sum(right)} of {len(right)} ({interval[0]:.2f} to {interval[1]:.2f}) "
        f"| {len(claims)}, {len(claims) - sum(claims)} wrong | {checked} "
        f"| {fmean(each.calls for each in given):.1f} | {fmean(each.seconds for each in given):.1f} |"
    )


def compare(questions: Sequence[Question], first: Sequence[Given], second: Sequence[Given], name: str) -> str:
    """Formats the paired differences of two arms: of right contents, and of right contents and forms."""
    sides = [[*zip(questions, given, strict=True)] for given in (first, second)]
    content = [[float(each.has_content(given.text)) for each, given in side] for side in sides]
    both = [
        [float(each.has_content(given.text) and each.has_form(given.text)) for each, given in side]
        for side in sides
    ]
    texts = [
        f"{kind} {difference.mean:+.2f} ({difference.interval.low:+.2f} to {difference.interval.high:+.2f})"
        for kind, difference in (("content", paired_difference(*content)), ("both", paired_difference(*both)))
    ]
    return f"{name}: {', '.join(texts)}"


def main() -> None:
    """Runs the arms and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arm", choices=ARMS, action="append")
    parser.add_argument("--model", default="local")
    parser.add_argument("--held-out", action="store_true")
    options = parser.parse_args()
    model, questions = load_model(options.model), read_questions(held_out=options.held_out)
    print("| arm | content right | content and form right | claims | checked or judged | calls | seconds |")
    print("|---|---|---|---|---|---|---|")
    measured: dict[str, list[Given]] = {}
    for name in options.arm or ARMS:
        measured[name] = measure(ARMS[name], model, questions)
        print(describe(name, questions, measured[name]), flush=True)
    first, *others = measured
    for name in others:
        print(compare(questions, measured[first], measured[name], f"{name} minus {first}"))


if __name__ == "__main__":
    main()
