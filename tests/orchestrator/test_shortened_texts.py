from __future__ import annotations

from collections.abc import Callable

import pytest
from pydantic import BaseModel, ConfigDict

from agents.errors import PlanError
from orchestrator import OrchestratorError, RetryPolicy
from orchestrator.cli.consoles import one_line
from orchestrator.cli.run_drawings import draw_question
from orchestrator.events import check_hooks
from orchestrator.judging.contract_options import find_type_problem
from orchestrator.planning.plan import read_steps
from orchestrator.runs.run_saver import broken_run
from orchestrator.runtime.bounded_call import Raised, Spent
from orchestrator.state.plain_values import format_one_line, format_repr
from orchestrator.state.records import NO_USAGE
from orchestrator.supervision.phases import list_facts, reconcile
from orchestrator.supervision.replies import format_value
from tests.fakes.supervised import a_commitment, an_assessment
from tests.orchestrator.cli.builders import drawn, question

KEY = "sk-proj-Zx9Cv8Bn7Mq6We5Rt4Yu3Io2Pa1Sd0FgHj8Kl7"
SHOWN = "Zx9C"
"""Letters near the beginning of the key, which a cut within the key would leave."""


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


def message_of(action: Callable[[], object]) -> str:
    try:
        action()
    except (OrchestratorError, PlanError) as error:
        return str(error)
    raise AssertionError("no error")


def plan_with(step: object) -> Callable[[], object]:
    return lambda: read_steps([step], 5)


CUTS: dict[str, tuple[int, Callable[[str], str]]] = {
    "a value in an error": (80, lambda text: format_repr(text, 80)),
    "an error on one line": (200, lambda text: format_one_line(ValueError(text))),
    "the needs of a step": (80, lambda text: message_of(plan_with({"step": "x", "needs": [text]}))),
    "hooks": (80, lambda text: message_of(lambda: check_hooks(text))),
    "a setting": (80, lambda text: message_of(lambda: RetryPolicy(max_replans=text))),
    "an error of an agent": (
        500,
        lambda text: Raised(ValueError(text), Spent(NO_USAGE, []), None, False).message,
    ),
    "a trigger": (300, lambda text: str(reconcile(a_commitment(), an_assessment(concerns=[text])))),
    "a finding of the evaluation": (300, lambda text: str(list_facts(None, None, [text]))),
    "a part of a supervision reply": (1000, format_value),
    "the type of an output": (300, lambda text: str(find_type_problem(Strict, f'{{"{text}": 1}}'))),
    "a broken state": (200, lambda text: str(broken_run("thread", text))),
    "a line of the terminal": (500, one_line),
    "the text of a question": (2000, lambda text: drawn(draw_question(question(text=text)), 10_000)),
}


def test_no_part_of_a_key_is_left_where_a_text_is_cut(subtests: pytest.Subtests) -> None:
    for name, (limit, show) in CUTS.items():
        with subtests.test(name=name):
            # The message may put some words before the text, so the key is planted at several places.
            for start in range(limit - 120, limit, 3):
                text = "a " * 2000
                planted = f"{text[: max(start, 0)]} {KEY} {text}"
                assert SHOWN not in show(planted), start
