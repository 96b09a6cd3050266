"""Ways to ask a model whether an output meets its task, from one question to a list of requirements."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage

from agents import MonitoringAgent
from agents.prompts import MONITORING, fence_text, find_boundary
from evaluation.judges.figures import LabelledOutput, Verdict
from evaluation.judges.measuring import judge_output

YES_NO = "Does the output meet the objective? Answer with one word: yes or no."


@dataclass(frozen=True)
class Answer:
    """What one arm says of one output; a score of None is no verdict."""

    score: float | None
    calls: int = 1


Arm = Callable[[BaseChatModel, LabelledOutput], Answer]


def ask_monitor(llm: BaseChatModel, output: LabelledOutput) -> Answer:
    """The judge as it is: an object with a verdict and a reason."""
    scores: Mapping[Verdict, float | None] = {"accepted": 1.0, "refused": 0.0, "needs_review": None}
    return Answer(scores[judge_output(MonitoringAgent(llm), output)])


def ask_yes_no(llm: BaseChatModel, output: LabelledOutput) -> Answer:
    return Answer(probability(llm, show(output), YES_NO))


def ask_swapped(llm: BaseChatModel, output: LabelledOutput) -> Answer:
    """The output before the objective."""
    return Answer(probability(llm, show(output, swapped=True), YES_NO))


def ask_for_fault(llm: BaseChatModel, output: LabelledOutput) -> Answer:
    """The question is turned round: an agreeable model says yes to a fault, too."""
    question = "Does the output have a fault: is anything wrong, missing or made up? Answer yes or no."
    fault = probability(llm, show(output), question)
    return Answer(None if fault is None else 1.0 - fault)


def ask_fault_first(llm: BaseChatModel, output: LabelledOutput) -> Answer:
    """The model writes the fault in one sentence, and gives its verdict after that."""
    question = "Name the worst fault of the output in one short sentence. If it has none, write: none."
    fault = text_of(llm.bind(max_tokens=40), show(output), question)
    noted = f"{show(output)}\n\nA reviewer wrote about the output: {fault}"
    return Answer(probability(llm, noted, YES_NO), calls=2)


def ask_score(llm: BaseChatModel, output: LabelledOutput) -> Answer:
    """A score from 1 to 5, of which 4 passes, as a mean over the probabilities of the digits."""
    question = "How well does the output meet the objective? Answer with one digit from 1 (not) to 5 (fully)."
    shares = first_token(llm, show(output), question, [*"12345"])
    return Answer(sum((int(digit) - 1) / 4 * share for digit, share in shares.items()) if shares else None)


def ask_without_output(llm: BaseChatModel, output: LabelledOutput) -> Answer:
    """The question about an empty output: what the task alone makes the model say."""
    return ask_yes_no(llm, output.model_copy(update={"output": ""}))


def ask_each_requirement(llm: BaseChatModel, output: LabelledOutput) -> Answer:
    """One question for each part of the task; the least probable part decides."""
    parts = split_task(output.task)
    scores = [probability(llm, show(output), ask_about(part)) for part in parts]
    known = [score for score in scores if score is not None]
    return Answer(min(known) if len(known) == len(parts) else None, calls=len(parts))


def ask_all_requirements(llm: BaseChatModel, output: LabelledOutput) -> Answer:
    """The same parts in one question."""
    listed = "\n".join(f"- {part}" for part in split_task(output.task))
    question = (
        f"Requirements:\n{listed}\nDoes the output meet every one of them? Answer with one word: yes or no."
    )
    return Answer(probability(llm, show(output), question))


ARMS: Mapping[str, Arm] = {
    "monitor": ask_monitor,
    "yes_no": ask_yes_no,
    "swapped": ask_swapped,
    "fault": ask_for_fault,
    "fault_first": ask_fault_first,
    "score": ask_score,
    "empty": ask_without_output,
    "each_requirement": ask_each_requirement,
    "all_requirements": ask_all_requirements,
}
COMBINED: Mapping[str, tuple[tuple[str, float], ...]] = {
    "both orders": (("yes_no", 0.5), ("swapped", 0.5)),
    "yes_no and fault": (("yes_no", 0.5), ("fault", 0.5)),
    "yes_no against empty": (("yes_no", 1.0), ("empty", -1.0)),
}
"""Arms without calls of their own: weighted sums of the log odds of other arms."""
LIMITS = {"score": 0.75}
"""The limit of an arm before calibration, if it is not 0.5."""


def split_task(task: str) -> list[str]:
    """Splits a task into its sentences and clauses; at most five."""
    parts = (part.strip(" .:;") for part in re.split(r"(?<=[.;:!?])\s+|, and | und zwar | that ", task))
    return [part for part in parts if len(part.split()) > 1][:5] or [task]


def ask_about(part: str) -> str:
    return f'One requirement is: "{part}". Does the output meet it? Answer with one word: yes or no.'


def show(output: LabelledOutput, *, swapped: bool = False) -> str:
    mark = find_boundary(output.task, output.output)
    parts = [fence_text("objective", output.task, mark), fence_text("output", output.output, mark)]
    return "\n\n".join(reversed(parts) if swapped else parts)


def text_of(llm: Any, shown: str, question: str) -> str:
    return str(llm.invoke([SystemMessage(MONITORING), HumanMessage(f"{shown}\n\n{question}")]).text).strip()


def probability(llm: BaseChatModel, shown: str, question: str) -> float | None:
    """Returns P(yes) / (P(yes) + P(no)) of the first token."""
    return first_token(llm, shown, question, ["yes", "no"]).get("yes")


def first_token(llm: BaseChatModel, shown: str, question: str, words: Sequence[str]) -> dict[str, float]:
    """Returns the shares of these words in the first token; empty if none is among the 20 most probable."""
    asked = llm.bind(max_tokens=1, logprobs=True, top_logprobs=20)
    reply = asked.invoke([SystemMessage(MONITORING), HumanMessage(f"{shown}\n\n{question}")])
    tokens = reply.response_metadata["logprobs"]["content"][0]["top_logprobs"]
    sums = dict.fromkeys(words, 0.0)
    for token in tokens:
        word = token["token"].strip().casefold()
        if word in sums:
            sums[word] += math.exp(token["logprob"])
    total = sum(sums.values())
    return {word: share / total for word, share in sums.items()} if total else {}
