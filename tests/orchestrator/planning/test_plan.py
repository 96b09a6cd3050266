"""What a planner may return, and what is said of the rest in one sentence."""

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


def test_a_list_of_texts_is_a_sequential_plan():
    assert read("one", "two") == PlannedSteps(["one", "two"], None, None)


def test_the_text_of_a_step_is_found_in(subtests):
    for item in [
        "look",
        {"step": "look"},
        {"description": "look"},
        {"step": 1, "description": "look"},
        {"step": "look", "id": None, "needs": None, "reason": "unknown names are left alone"},
        UserDict({"step": "look"}),
        Model(step="look"),
    ]:
        with subtests.test(item=item):
            planned = read(item)

            assert planned == PlannedSteps(["look"], None, None)
            assert type(planned.texts[0]) is str


def test_a_plan_that_is_none_is_refused_with(subtests):
    for plan, told in [
        ([], "the plan is empty"),
        ("one step", "the planner returned a str; a list of steps is wanted"),
        (None, "the planner returned a NoneType"),
        (3, "the planner returned a int"),
        ({"plan": ["one"]}, "the planner returned a dict"),
        (["one", ""], "step 2 of the plan: step: give a text that is not blank, not a blank text"),
        (["one", None], "step 2 of the plan is a NoneType; give a text or an object"),
        (["one", 2], "step 2 of the plan is a int"),
        ([{"step": 1}], "step 1 of the plan: step: give a text, not 1"),
        ([{"task": "one"}], "step 1 of the plan: step: give a text"),
        ([step(id="a"), "two", step(id="a")], "steps 1 and 3 have the same id 'a'"),
        ([step(id="2"), "two"], "steps 1 and 2 have the same id '2'"),
        ([step(needs="a")], "step 1 of the plan: needs: give a list, not a text"),
        (["one", step(needs=["a"])], "step 2 needs 'a', which names no step of the plan"),
        (["one", step(needs=[3])], "step 2 needs 3, which names no step of the plan"),
        (["one", step(needs=[10**400])], "step 2 needs '1000000000"),
        (["one", step(needs=[None])], "step 2 of the plan: needs[0]: give a text or a whole number"),
        ([step(id="a"), step(needs=["1"])], "step 2 needs '1', which names no step of the plan"),
        (["one", step(needs=[2])], "the needs of the steps 2 form a circle"),
    ]:
        with subtests.test(plan=plan):
            assert refusal(plan).startswith(told)


def test_which_steps_a_step_needs(subtests):
    for items, needs in [
        ((step(needs=[]),), None),
        ((step(needs=[]), "two", "three"), [[], [0], [1]]),
        (("one", step(needs=[])), [[], []]),
        (("one", step(needs=[]), "three"), [[], [], [1]]),
        ((step(needs=[]), step(needs=[]), step(needs=[1, 2])), [[], [], [0, 1]]),
        ((step(needs=[]), step(needs=[]), step(needs=["2", 1, "1"])), [[], [], [0, 1]]),
        ((step(needs=[2]), step(needs=[])), [[1], []]),
        ((step(id="read"), step(id="write", needs=["read"])), [[], [0]]),
        ((step(id="read"), step(id="write", needs=[1])), [[], [0]]),
        ((step(id="2", needs=[]), step(id="b", needs=["2"]), step(needs=[2])), [[], [0], [1]]),
    ]:
        with subtests.test(items=items):
            assert read(*items).needs == needs
