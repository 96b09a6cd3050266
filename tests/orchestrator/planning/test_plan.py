from collections import UserDict

import pytest
from pydantic import BaseModel

from agents.errors import PlanError
from orchestrator.planning.plan import PlannedSteps, read_steps


def read(*items, max_steps=20):
    return read_steps(list(items), max_steps)


def refusal(plan, max_steps=20):
    with pytest.raises(PlanError) as raised:
        read_steps(plan, max_steps)
    return str(raised.value)


def step(text="do", **fields):
    return {"step": text, **fields}


class Model(BaseModel):
    step: str
    id: str | None = None


def test_a_list_of_texts_is_a_plan():
    assert read("one", "two") == PlannedSteps(["one", "two"], None)


def test_the_text_of_a_step_is_found_in(subtests):
    for item in [
        "look",
        {"step": "look"},
        {"description": "look"},
        {"step": 1, "description": "look"},
        {"step": "look", "id": "a", "needs": None, "reason": "unknown names are left alone"},
        {"step": "look", "needs": []},
        UserDict({"step": "look"}),
        Model(step="look"),
    ]:
        with subtests.test(item=item):
            planned = read(item)

            assert planned == PlannedSteps(["look"], None)
            assert type(planned.texts[0]) is str


def test_a_plan_that_is_none_is_refused_with(subtests):
    for plan, told in [
        ([], "the plan is empty"),
        ("one step", "the planner returned a str; a list of steps is wanted"),
        ({"plan": ["one"]}, "the planner returned a dict"),
        (["one", ""], "step 2 of the plan: step: give a text that is not blank, not a blank text"),
        (["one", None], "step 2 of the plan is a NoneType; give a text or an object"),
        ([{"step": 1}], "step 1 of the plan: step: give a text, not 1"),
        ([{"task": "one"}], "step 1 of the plan: step: give a text"),
        (["one", step(needs=["a"])], "step 2 of the plan has needs ['a'], and steps run one after another"),
        ([step(needs=[10**400]), "two"], "step 1 of the plan has needs ['1000000000"),
    ]:
        with subtests.test(plan=plan):
            assert refusal(plan).startswith(told)
