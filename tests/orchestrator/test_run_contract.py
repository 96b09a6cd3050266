import random
import re
from dataclasses import dataclass, field
from itertools import product

import pytest
from langchain_core.tools import StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver

from agents import ExecutionAgent
from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract, check, evaluate, run_from_state
from orchestrator import ConfigurationError, LangGraphOrchestrator, RetryPolicy
from tests.fakes.acting import approve, ask
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner


@tool
def search(query: str) -> str:
    """Search."""
    return f"Done: found {query}"


@tool
def refund(query: str) -> str:
    """Refund."""
    return f"refunded {query}"


@tool
def fail(query: str) -> str:
    """Fail."""
    raise ValueError(query)


TOOLS = {each.name: each for each in (search, refund, fail)}


@check
def search_before_refund(context):
    """Search before you refund."""
    names = [call.name for call in context.tool_calls]
    return "refund" not in names or "search" in names[: names.index("refund")]


def contract_of(**fields):
    return EvaluationContract.model_validate(fields)


def at_most(tool_name, number):
    return {"check": "tool_calls", "tool": tool_name, "max": number}


@dataclass
class Caller:
    """An executor that calls tools by itself: (the tools, the output) for each attempt at a step."""

    script: dict[str, list[tuple[list[str], str]]] = field(default_factory=dict)

    def execute_step(self, step_description, context=""):
        # A retry adds the refused output to the step.
        step = next((text for text in self.script if step_description.startswith(text)), "")
        attempts = self.script.get(step, [([], "good")])
        calls, output = attempts.pop(0) if len(attempts) > 1 else attempts[0]
        for name in calls:
            try:
                TOOLS[name].invoke({"query": "884"})
            except ValueError:
                continue
        return output


class Writer(Caller):
    def synthesize(self, task, context=""):
        return Caller.execute_step(self, "answer", context)


def orchestrate(executor, plan=("one", "two"), *plans, **options):
    options = {"retry_policy": RetryPolicy(max_retries=1), **options}
    return LangGraphOrchestrator(FakePlanner(list(plan), *plans), executor, FakeMonitor(), **options)


def calls(*names):
    return ask(*((name, {"query": "884"}) for name in names))


def run_agent(replies, plan=("one", "two"), **options):
    model = ScriptedChatModel(replies)
    state = orchestrate(ExecutionAgent(model, [*TOOLS.values()]), plan, synthesis=False, **options).run("x")
    return state, model


def made(state):
    records = [*state["results"], *state["synthesis"]]
    return [call["name"] for each in records for call in each["tool_calls"] if "gate" not in call]


# ----------------------------------------------------------------------------------- calls of all steps


def test_a_refund_of_an_earlier_step_is_seen_with_the_output(subtests):
    for options in [
        {"contract": contract_of(checks=[at_most("refund", 0)])},
        {"contract": {"checks": [at_most("refund", 0)]}},
        {"contract": contract_of(trajectory={"forbidden_tools": ["refund"]})},
        {"checks": [search_before_refund]},
    ]:
        with subtests.test(options=options):
            executor = Caller({"one": [(["refund"], "good")]})
            state = orchestrate(executor, synthesis=False, **options).run("x")

            assert (state["status"], made(state)) == ("failed", ["refund"])


def test_a_written_answer_is_judged_by_the_calls_of_the_steps():
    executor = Writer({"one": [(["search"], "found")], "answer": [([], "bad"), ([], "best")]})
    contract = contract_of(must_call=["search"], required_content=[{"text": "best"}])
    state = orchestrate(executor, contract=contract).run("x")

    assert (state["status"], state["output"]) == ("success", "best")
    assert [record["result"] for record in state["synthesis"]] == ["bad", "best"]
    assert [len(record["tool_calls"]) for record in state["synthesis"]] == [0, 0]


def test_a_missing_call_goes_back_to_the_last_step_before_an_answer_is_written(subtests):
    for attempts, statuses in [
        ([([], "good"), (["search"], "found")], ["validated", "failed", "validated"]),
        ([([], "good")], ["validated", "failed", "failed"]),
    ]:
        with subtests.test(attempts=attempts):
            executor = Writer({"two": [*attempts], "answer": [([], "best")]})
            state = orchestrate(executor, ["one", "two"], contract=contract_of(must_call=["search"])).run("x")

            written = ["best"] if statuses[-1] == "validated" else []
            assert [record["status"] for record in state["results"]] == statuses
            assert [record["result"] for record in state["synthesis"]] == written


# --------------------------------------------------------------------------------- what no attempt can undo


def test_an_effect_that_must_not_have_happened_ends_the_run(subtests):
    for fields, named in [
        ({"checks": [at_most("refund", 0)]}, "'refund' was called 1 time, and none is allowed"),
        ({"trajectory": {"forbidden_tools": ["refund"]}}, "'refund' was called 1 time"),
        ({"audit": {"rules": [{"id": "r", "allowed_tools": ["search"]}]}}, "'refund' was called 1 time"),
        (
            {"expected_trajectory": [{"name": "search"}], "trajectory": {"acting_tools": ["refund"]}},
            "Tools that change something were called beyond the expected calls: refund",
        ),
    ]:
        for plan in [["two"], ["one", "two"]]:
            with subtests.test(fields=fields, plan=plan):
                executor = Caller({"two": [(["refund"], "good"), (["search"], "good")]})
                state = orchestrate(executor, plan, contract=contract_of(**fields)).run("x")

                assert (state["status"], state["failure"]["kind"]) == ("failed", "unwanted_effect")
                assert named in state["failure"]["message"]
                assert made(state) == ["refund"]


# ------------------------------------------------------------------------------------- before a tool runs


def test_a_tool_is_not_called_more_often_than_the_run_allows_in_all_its_steps(subtests):
    once, twice = calls("refund"), calls("refund", "refund")
    scripts = [(["one"], [twice]), (["one"], [once, once]), (["one", "two"], [once, "good", once])]
    for bound, told in [("max", "1 at most"), ("exactly", "1 exactly")]:
        for plan, replies in scripts:
            with subtests.test(bound=bound, replies=replies):
                contract = contract_of(checks=[{"check": "tool_calls", "tool": "refund", bound: 1}])
                state, model = run_agent([*replies, "good"], plan, contract=contract)

                assert (state["status"], made(state)) == ("success", ["refund"])
                # A call that is not made is answered before the others.
                assert [m.text for m in model.prompts[-1] if f"was called often enough ({told})" in m.text]


def scripted_refund(*answers):
    left = [*answers]
    return StructuredTool.from_function(lambda query: left.pop(0), name="refund", description="Refund.")


def test_refused_calls_of_a_tool_that_the_contract_names_leave_room_and_unknown_ones_do_not(subtests):
    other = ask(("refund", {"query": "885"}))
    for answer, bound, second, passed in [
        ("Could not refund: card expired", "max", "acted", True),
        ("Could not refund: card expired", "exactly", "acted", True),
        ("hm", "max", "refused", True),
        ("hm", "exactly", "refused", None),
    ]:
        with subtests.test(answer=answer, bound=bound):
            pay = scripted_refund(answer, "refunded 885")
            executor = ExecutionAgent(ScriptedChatModel([calls("refund"), other, "good"]), [pay])
            rules = {"check": "tool_calls", "tool": "refund", bound: 1}
            contract = contract_of(checks=[rules], trajectory={"acting_tools": ["refund"]})
            options = {"contract": contract, "acting_tools": ["refund"]}
            state = orchestrate(executor, ["one"], **options).run("x")

            assert [each["outcome"] for each in state["effects"]][1] == second
            assert state["results"][0]["report"]["checks"][0]["passed"] is passed


@pytest.mark.parametrize(
    "rules", [{"trajectory": {"acting_tools": ["pay_back"]}}, {"trajectory_match_mode": "exact"}]
)
@pytest.mark.parametrize("amounts", [[4000.0, 40.0], ["40", 40.0], [40.0, 41.0]])
def test_a_call_that_acts_with_other_arguments_than_the_expected_ones_is_not_made(rules, amounts):
    done = []

    def pay_back(order: str, amount: float) -> str:
        """Pay back."""
        done.append(amount)
        return f"paid back {amount} for {order}"

    replies = [ask(("pay_back", {"order": "A17", "amount": each})) for each in amounts]
    model = ScriptedChatModel([*replies, "good"])
    expected = [{"name": "pay_back", "args": {"order": "A17", "amount": 40.0}}]
    contract = contract_of(expected_trajectory=expected, **rules)
    options = {"contract": contract, "acting_tools": ["pay_back"], "max_retries": 0}
    orchestrate(ExecutionAgent(model, [pay_back]), ["one"], **options).run("x")

    refused = [text.text for text in model.prompts[-1] if "expects no such call of 'pay_back'" in text.text]
    assert (done, len(refused)) == ([40.0], 1)
    assert "40" not in refused[0]


def test_a_person_sees_that_the_contract_expects_no_such_call():
    contract = contract_of(
        expected_trajectory=[{"name": "refund", "args": {"query": "A17"}}],
        trajectory={"acting_tools": ["refund"]},
    )
    executor = ExecutionAgent(ScriptedChatModel([calls("refund")]), [refund])
    options = {"acting_tools": approve("refund"), "checkpointer": InMemorySaver()}
    state = orchestrate(executor, ["one"], contract=contract, **options).run("x", "thread")

    assert "The contract expects no such call of 'refund'" in state["question"]["findings"][0]


# ---------------------------------------------------------------------------------------- live and recorded

CONTRACTS = [
    {"must_call": ["search"]},
    {"must_call": ["search", "refund"], "required_content": [{"text": "good"}]},
    {"checks": [at_most("refund", 1)]},
    {"trajectory": {"forbidden_tools": ["refund"]}, "required_content": [{"text": "good"}]},
    {"expected_trajectory": ["search", "refund"], "trajectory": {"acting_tools": ["refund"]}},
    {"expected_trajectory": ["search"], "trajectory_match_mode": "superset"},
    {"checks": [{"check": "function", "name": search_before_refund.name}]},
    {"audit": {"rules": [{"id": "r", "allowed_tools": ["search", "fail"]}]}},
    {"required_content": [{"text": "good"}], "thresholds": {"tool_failures": {"max": 0}}},
]


def draw_run(seed):
    chance = random.Random(seed)

    def draw_attempts():
        names = list(TOOLS)
        return [
            (chance.choices(names, k=chance.choice([0, 0, 1, 1, 2])), chance.choice(["good", "good", "bad"]))
            for _ in range(chance.randint(1, 3))
        ]

    plan = [f"step {at}" for at in range(chance.randint(1, 3))]
    kind = Writer if chance.random() < 0.4 else Caller
    script = {text: draw_attempts() for text in [*plan, "answer", "again"]}
    contract = chance.choice(CONTRACTS)
    policy = RetryPolicy(max_retries=chance.randint(0, 2), max_replans=chance.randint(0, 1))
    own = chance.choice([None, None, contract_of(required_content=[{"text": "good"}])])
    orchestrator = orchestrate(
        kind(script),
        plan,
        ["again"],
        contract=contract_of(**contract),
        step_contract=own,
        checks=[search_before_refund] if "checks" in contract else [],
        synthesis=None if kind is Writer else False,
        retry_policy=policy,
    )
    return orchestrator.run("x"), contract


def judge_recorded(state, contract, output):
    recorded = {**run_from_state(state), "final_output": output}
    recorded.pop("error", None)
    checks = contract.get("checks", [])
    named = [search_before_refund] if checks else []
    own = [{"check": "function", "name": each.name} for each in named]
    # In a live run, a suspicion is a warning.
    audit = {**contract.get("audit", {}), "defects": "warn"}
    case = {"agent_run": recorded, **contract, "checks": [*checks, *own], "audit": audit}
    report = evaluate(case, named_checks=named)
    return report["status"]


@pytest.mark.parametrize("seeds", [range(26), pytest.param(range(26, 400), marks=pytest.mark.soak)])
def test_the_verdict_of_a_live_run_is_that_of_its_record(seeds):
    seen = []
    for seed in seeds:
        state, contract = draw_run(seed)
        last = [*state["results"], *state["synthesis"]][-1]
        recorded = judge_recorded(state, contract, last["result"])
        is_output = bool(state["synthesis"]) or last["step_index"] == len(state["plan"]) - 1
        if state["status"] == "success":
            assert (seed, last["report"]["status"]) == (seed, recorded)
        elif is_output and state["failure"]["kind"] != "attempts_exhausted":
            assert (seed, recorded) != (seed, "passed")
        seen.append((state["status"], recorded, len(state["results"]) > len(state["plan"])))

    # Both verdicts, with and without a refused attempt.
    ends = {(status, retried) for status, _, retried in seen}
    assert ends == {*product(("success", "failed"), (True, False))}
    assert {recorded for _, recorded, *_ in seen} >= {"passed", "failed", "needs_review"}


# ------------------------------------------------------------------------------------------------- bad input


def test_a_contract_in_the_wrong_place_is_refused(subtests):
    for options, sentence in [
        ({"contract": lambda step, index: None}, "and a function as step_contract="),
        ({"contract": {"must_cal": ["search"]}}, "contract: must_cal: no field has this name"),
        ({"output_contract": contract_of()}, "output_contract is no argument of LangGraphOrchestrator; give"),
        ({"step_contract": "from_task"}, "or a function of a step and its index that returns one"),
    ]:
        with subtests.test(options=options), pytest.raises(ConfigurationError, match=re.escape(sentence)):
            orchestrate(Caller(), **options)
