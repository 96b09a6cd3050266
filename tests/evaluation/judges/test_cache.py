"""A question that was answered is not asked again."""

from __future__ import annotations

import asyncio

import pytest
from langgraph.cache.memory import InMemoryCache
from langgraph.cache.sqlite import SqliteCache

from evaluation.errors import ContractError
from evaluation.inputs.rubric import Criterion, Rubric, Scale
from evaluation.judges.cache import CachedJudge
from evaluation.testing import FailingJudge, ScriptedJudge
from tests.evaluation.judges.asking import GOOD, RUBRIC, request

USAGE = {"input_tokens": 10, "output_tokens": 3, "cost_usd": 0.1, "model": "m"}
ACTION = {"kind": "tool", "name": "greet", "args": None}


@pytest.mark.parametrize("kind", ["memory", "file"])
async def test_the_second_answer_is_the_first_and_costs_nothing(kind, tmp_path):
    cache = InMemoryCache() if kind == "memory" else SqliteCache(path=str(tmp_path / "answers.sqlite"))
    inner = ScriptedJudge([{**GOOD, "usage": USAGE}])
    judge = CachedJudge(inner, cache, model="m")
    first, second = await judge.ajudge(request()), await judge.ajudge(request())
    assert first["usage"] == USAGE
    assert {**second, "usage": USAGE} == first
    free = {"input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0, "cached": True, "model": "m"}
    assert second["usage"] == (await asyncio.to_thread(judge.judge, request()))["usage"] == free
    assert len(inner.requests) == 1


@pytest.mark.parametrize(
    "other",
    [
        request("Good day!"),
        request(reference="Hi"),
        request(actions=(ACTION,)),
        request(rubric=RUBRIC.model_copy(update={"pass_score": 3.0})),
        request(rubric=RUBRIC.model_copy(update={"scale": Scale(min=0.0, max=5.0)})),
        request(rubric=Rubric(name="tone", criteria=[Criterion(name="clarity")])),
        request("\ud800"),  # no text of Unicode
    ],
)
def test_whatever_a_judge_is_shown_is_part_of_the_key(other):
    inner = ScriptedJudge([GOOD] * 2)
    judge = CachedJudge(inner, InMemoryCache(), model="m")
    judge.judge(request())
    judge.judge(other)
    assert len(inner.requests) == 2


def test_the_model_is_part_of_the_key_and_the_order_of_names_is_not():
    cache, inner = InMemoryCache(), ScriptedJudge([GOOD] * 2)
    turned = dict(reversed(ACTION.items()))
    for action, model in ((ACTION, "m"), (turned, "m"), (ACTION, "n")):
        CachedJudge(inner, cache, model=model).judge(request(actions=(action,)))
    assert len(inner.requests) == 2


@pytest.mark.parametrize(
    "answer",
    [
        "no JSON",
        {"score": 9, "rationale": "Wow."},
        {"score": 5},
        "{'score': 2, 'rationale': 'Cold.'}",
        {"score": 2, "rationale": "Cold.", "repaired": True},
        None,
    ],
)
def test_only_answers_that_can_be_relied_on_are_kept(answer):
    judge = CachedJudge(ScriptedJudge([answer, GOOD]), InMemoryCache(), model="m")
    assert [judge.judge(request()), judge.judge(request())] == [answer, GOOD]


def test_a_failure_is_asked_again():
    inner = FailingJudge(ConnectionError("down"))
    judge = CachedJudge(inner, InMemoryCache(), model="m")
    for _ in range(2):
        with pytest.raises(ConnectionError):
            judge.judge(request())
    assert len(inner.requests) == 2


def test_a_model_without_a_name_is_refused():
    with pytest.raises(ContractError, match="model is empty"):
        CachedJudge(FailingJudge(), InMemoryCache(), model=" ")
