"""Calls of tools that act are not repeated unasked: in another attempt, in a later step, after a crash."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import ToolException
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import interrupt

from agents import ActingTool, ExecutionAgent, NoEffectError
from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract
from orchestrator import LangGraphOrchestrator, SupervisionPolicy
from orchestrator.persistence import open_store
from tests.fakes.monitor import FakeMonitor, accept, refuse
from tests.fakes.planner import FakePlanner

APPROVE = {"answer": "approve", "answered_by": "Ada"}
DENY = {"answer": "deny", "text": "it is booked", "answered_by": "Ada"}
ACTED = {"answer": "correct", "text": "paid 1.0 to Ada, receipt 7", "answered_by": "Ada"}
PAID = "paid 1.0 to Ada"
ASKED = "May the tool pay run again? The answer correct does not run it: its text is the result of the call."
DOUBT = "The same call was made before, and it is not known whether it had its effect: "


class Bank:
    """Pays. ``errors`` are raised or answered after the payments, in their order; None does neither."""

    def __init__(self, *errors):
        self.paid: list[tuple[str, float]] = []
        self.errors = list(errors)

    def tools(self):
        def pay(to: str, euros: float = 1.0) -> str:
            """Pay."""
            self.paid.append((to, euros))
            error = self.errors.pop(0) if self.errors else None
            if isinstance(error, BaseException):
                raise error
            if error is not None:
                return error
            return f"paid {euros} to {to}"

        return [pay]


def pay(*payments):
    """A reply that pays, each payment as its arguments."""
    calls = [{"name": "pay", "args": args, "id": f"{at}"} for at, args in enumerate(payments)]
    return AIMessage("", tool_calls=calls)


ADA = {"to": "Ada", "euros": 1.0}


def build(bank, *replies, plan=("Pay",), monitor=None, reply=None, **options):
    model = ScriptedChatModel(replies if reply is None else reply)
    agents = FakePlanner(list(plan)), ExecutionAgent(model, bank.tools()), monitor or FakeMonitor()
    defaults = {"acting_tools": ["pay"], "synthesis": False}
    return LangGraphOrchestrator(*agents, **{**defaults, **options}), model


def outcomes(state):
    return [
        (call["result"] or call["error"], call.get("gate"))
        for record in state["results"]
        for call in record["tool_calls"]
    ]


def test_arguments_are_compared_as_the_tool_reads_them(subtests):
    for args in [{"to": "Ada", "euros": 1}, {"to": "Ada", "euros": "1.0"}, {"to": "Ada"}]:
        with subtests.test(args=args):
            bank = Bank()
            orchestrator, _ = build(
                bank, pay(ADA), "hm", pay(args), "done", monitor=FakeMonitor(refuse(), accept())
            )
            state = orchestrator.run("x")

            assert (bank.paid, outcomes(state)[1]) == ([("Ada", 1.0)], (PAID, "reused"))


def retry(bank, *replies, **options):
    """Runs a step whose first attempt is refused."""
    orchestrator, model = build(bank, *replies, monitor=FakeMonitor(refuse(), accept()), **options)
    return orchestrator, model


def told(model):
    return [message.text for message in model.prompts[-1]]


NOT_AGAIN = (
    f"This call was made before and answered: {PAID}\n"
    "It is not made again. Go on without it, and say so in your answer."
)


def test_a_retry_gets_the_answer_of_a_call_that_acted_and_is_told_so():
    bank = Bank()
    orchestrator, model = retry(bank, pay(ADA), "hm", pay(ADA), "done")
    state = orchestrator.run("x")

    assert (bank.paid, outcomes(state)) == ([("Ada", 1.0)], [(PAID, None), (PAID, "reused")])
    assert state["results"][1]["tool_calls"][0]["made_in"] == {"step_index": 0, "attempt": 1}
    assert f"{PAID}\n(This call was not made again: it was made in an earlier attempt.)" in told(model)


def test_a_retry_does_not_reuse_an_answer_if_another_call_has_acted_since_or_a_person_is_to_be_asked(
    subtests,
):
    for repeat in ["reuse", "ask"]:
        with subtests.test(repeat=repeat):
            bank = Bank()
            replies = [pay(ADA), pay({"to": "Bob"})] if repeat == "reuse" else [pay(ADA)]
            options = {"pay": ActingTool(repeat=repeat)}
            orchestrator, model = retry(bank, *replies, "hm", pay(ADA), "done", acting_tools=options)
            state = orchestrator.run("x")

            assert (bank.paid.count(("Ada", 1.0)), outcomes(state)[-1]) == (1, (PAID, "reused"))
            assert NOT_AGAIN in told(model)


def test_a_person_decides_about_a_call_after_which_another_one_acted(subtests):
    for answer, times in [(APPROVE, 2), (DENY, 1)]:
        with subtests.test(answer=answer):
            bank = Bank()
            replies = pay(ADA), pay({"to": "Bob"}), "hm", pay(ADA), "done"
            orchestrator, _ = retry(bank, *replies, checkpointer=InMemorySaver())
            question = orchestrator.run("x", "thread")["question"]
            state = orchestrator.resume("thread", answer)

            assert question["findings"] == [
                f"The same call was made before and acted; it answered {PAID!r}",
                f"""Before: pay {{"to": "Ada", "euros": 1.0}} answered {PAID!r} (acted)""",
                """Before: pay {"to": "Bob"} answered 'paid 1.0 to Bob' (acted)""",
            ]
            assert (state["status"], bank.paid.count(("Ada", 1.0))) == ("success", times)


def test_a_later_step_does_not_make_a_call_that_acted_if_nobody_can_be_asked():
    bank = Bank()
    orchestrator, model = build(bank, pay(ADA), "done", pay(ADA), "done", plan=["Pay", "Pay"])
    state = orchestrator.run("x")

    assert (bank.paid, outcomes(state)) == ([("Ada", 1.0)], [(PAID, None), (PAID, "reused")])
    assert state["results"][1]["tool_calls"][0]["made_in"] == {"step_index": 0, "attempt": 1}
    assert NOT_AGAIN in told(model)


def test_a_person_decides_whether_a_later_step_makes_a_call_that_acted(subtests):
    for answer, times, outcome in [
        (APPROVE, 2, (PAID, None)),
        (DENY, 1, None),
        (ACTED, 1, (ACTED["text"], "stated")),
    ]:
        with subtests.test(answer=answer):
            bank = Bank()
            replies = pay(ADA), "done", pay(ADA), "done"
            orchestrator, _ = build(bank, *replies, plan=["Pay", "Pay"], checkpointer=InMemorySaver())
            question = orchestrator.run("x", "thread")["question"]
            state = orchestrator.resume("thread", answer)

            assert (question["text"], question["step_index"]) == (ASKED, 1)
            assert (state["status"], len(bank.paid)) == ("success", times)
            assert outcomes(state)[1] == outcome or (outcome is None and outcomes(state)[1][1] == "denied")


def test_steps_of_a_parallel_plan_make_a_call_once(subtests):
    for needs in [([], [], []), ([], [1], [])]:
        with subtests.test(needs=needs):
            plan = [
                {"step": name, "needs": needed}
                for name, needed in zip(("one", "two", "three"), needs, strict=True)
            ]
            bank = Bank()
            model = ScriptedChatModel(lambda messages: pay(ADA) if len(messages) == 2 else "done")
            orchestrator = LangGraphOrchestrator(
                FakePlanner(plan),
                ExecutionAgent(model, bank.tools()),
                FakeMonitor(),
                acting_tools=["pay"],
                synthesis=False,
            )
            state = orchestrator.run("x")

            assert bank.paid == [("Ada", 1.0)]
            assert [gate for _, gate in outcomes(state)] == [None, "reused", "reused"]


# ------------------------------------------------------------------- it is unknown what a call did

UNKNOWN = [
    (TimeoutError("no answer in time"), "TimeoutError: no answer in time"),
    ("42", "42"),
    ("", "the call did not end"),
]


def test_without_a_person_a_call_with_an_unknown_effect_is_not_made_in_a_retry(subtests):
    for error, reason in UNKNOWN:
        with subtests.test(error=error, reason=reason):
            bank = Bank(error)
            orchestrator, model = retry(bank, pay(ADA), "hm", pay(ADA), "done")
            state = orchestrator.run("x")

            refusal = (
                f"This call was made before, and it is not known whether it had its effect ({reason}), "
                "so it is not made again. Go on without it, and say so in your answer."
            )
            assert bank.paid == [("Ada", 1.0)]
            assert outcomes(state)[1] == (refusal, "unknown")
            assert refusal in told(model)
            assert "step 1: it is not known whether these calls had their effect: pay" in state["warnings"]


def test_a_person_decides_whether_a_call_that_raised_is_made_in_a_retry(subtests):
    for answer, times in [(APPROVE, 2), (DENY, 1)]:
        with subtests.test(answer=answer):
            bank = Bank(TimeoutError("no answer in time"))
            orchestrator, _ = retry(bank, pay(ADA), "hm", pay(ADA), "done", checkpointer=InMemorySaver())
            question = orchestrator.run("x", "thread")["question"]
            state = orchestrator.resume("thread", answer)

            assert question["text"] == ASKED
            assert question["findings"][0] == f"{DOUBT}TimeoutError: no answer in time"
            assert (state["status"], len(bank.paid)) == ("success", times)


def test_a_call_that_surely_had_no_effect_is_made_again_in_a_retry(subtests):
    for refusal in [
        NoEffectError("the bank is closed"),
        ToolException("no such account"),
        "Could not pay: card expired",
    ]:
        with subtests.test(refusal=refusal):
            bank = Bank(refusal)
            orchestrator, _ = retry(bank, pay(ADA), "hm", pay(ADA), "done")
            state = orchestrator.run("x")

            calls = [call for record in state["results"] for call in record["tool_calls"]]
            assert (len(bank.paid), [call["outcome"] for call in calls]) == (2, ["refused", "acted"])


def test_a_failure_that_may_have_come_after_the_effect_is_not_repeated_without_a_person(subtests):
    for answer in [
        "504 Gateway Timeout",
        '{"error": "timed out"}',
        "Could not send the mail, but it is paid.",
    ]:
        with subtests.test(answer=answer):
            bank = Bank(answer)
            orchestrator, _ = retry(bank, pay(ADA), "hm", pay(ADA), "done")
            state = orchestrator.run("x")

            assert (len(bank.paid), outcomes(state)[1][1]) == (1, "unknown")


class Crash(KeyboardInterrupt):
    """Ends the process, as far as a test can."""


def resume_after_crash(bank, *replies, **options):
    orchestrator, model = build(bank, *replies, checkpointer=InMemorySaver(), **options)
    with pytest.raises(KeyboardInterrupt):
        orchestrator.run("x", "thread")
    return orchestrator, model


def test_a_person_decides_whether_a_call_in_which_the_process_died_is_made_again(subtests):
    for answer, times in [(APPROVE, 2), (DENY, 1)]:
        with subtests.test(answer=answer):
            bank = Bank(Crash())
            orchestrator, _ = resume_after_crash(bank, pay(ADA), "done")
            question = orchestrator.resume("thread")["question"]
            paid_before = list(bank.paid)
            state = orchestrator.resume("thread", answer)

            assert question["findings"] == [f"{DOUBT}the run was interrupted while the call was under way"]
            assert (state["status"], len(paid_before), len(bank.paid)) == ("success", 1, times)


# ------------------------------------------------------------------- a person knows what the call returned


def test_the_text_of_a_person_is_the_result_of_a_call_in_which_the_process_died():
    bank = Bank(Crash())
    contract = EvaluationContract(must_call=["pay"])
    orchestrator, model = resume_after_crash(bank, pay(ADA), "done", contract=contract)
    question = orchestrator.resume("thread")["question"]
    state = orchestrator.resume("thread", ACTED)

    [call] = state["results"][0]["tool_calls"]
    assert (question["accepts"], question["text"]) == (["approve", "correct", "deny", "halt"], ASKED)
    assert (state["status"], state["warnings"], bank.paid) == ("success", [], [("Ada", 1.0)])
    assert (call["args"], call["result"], call["error"], call["gate"]) == (ADA, ACTED["text"], None, "stated")
    assert (call["answer"]["answer"], call["answer"]["answered_by"]) == ("correct", "Ada")
    assert model.prompts[-1][-1].text == ACTED["text"]


def test_a_retry_gets_the_result_that_a_person_stated():
    bank = Bank(Crash())
    replies = pay(ADA), "hm", pay(ADA), "done"
    orchestrator, _ = resume_after_crash(bank, *replies, monitor=FakeMonitor(refuse(), accept()))
    orchestrator.resume("thread")
    state = orchestrator.resume("thread", ACTED)

    assert (state["status"], len(bank.paid)) == ("success", 1)
    assert outcomes(state) == [(ACTED["text"], "stated"), (ACTED["text"], "reused")]
    assert state["results"][1]["tool_calls"][0]["made_in"] == {"step_index": 0, "attempt": 1}


@pytest.mark.parametrize("raising", [Crash(), TimeoutError("late")], ids=["crash", "error"])
def test_a_stated_result_outlives_a_kill_before_the_end(raising, tmp_path):
    bank = Bank(raising)
    crashes = [Crash()]

    def reply(messages):
        if messages[-1].text == ACTED["text"]:
            if crashes:
                raise crashes.pop()
            return "done"
        return "hm" if messages[-1].type == "tool" else pay(ADA)

    path = str(tmp_path / "runs.sqlite")
    if isinstance(raising, Crash):
        with open_store(path) as store, pytest.raises(KeyboardInterrupt):
            build(bank, reply=reply, checkpointer=store)[0].run("x", "thread")
    with open_store(path) as store:
        monitor = FakeMonitor() if isinstance(raising, Crash) else FakeMonitor(refuse(), accept())
        orchestrator, _ = build(bank, reply=reply, monitor=monitor, checkpointer=store)
        waiting = (
            orchestrator.resume("thread") if isinstance(raising, Crash) else orchestrator.run("x", "thread")
        )
        with pytest.raises(KeyboardInterrupt):
            orchestrator.resume("thread", ACTED)
    with open_store(path) as store:
        state = build(bank, reply=reply, checkpointer=store)[0].resume("thread")

    assert waiting["question"]["text"] == ASKED
    assert (state["status"], state["question"], len(bank.paid)) == ("success", None, 1)
    assert outcomes(state)[-1] == (ACTED["text"], "stated")


# ------------------------------------------------------------------- one start for each approval


def test_an_approval_holds_for_one_more_start_only():
    bank = Bank(Crash(), Crash())
    orchestrator, _ = resume_after_crash(bank, pay(ADA), "done")
    orchestrator.resume("thread")
    with pytest.raises(KeyboardInterrupt):
        orchestrator.resume("thread", APPROVE)
    asked_again = orchestrator.resume("thread")["question"]

    assert (asked_again["text"], len(bank.paid)) == (ASKED, 2)
    assert asked_again["findings"][0].endswith("while the call was under way, 2 times")


def test_without_a_person_a_call_in_which_the_process_died_is_not_made_again():
    bank = Bank(Crash())
    orchestrator, _ = resume_after_crash(
        bank, pay(ADA), "done", supervision_policy=SupervisionPolicy(human=False)
    )
    state = orchestrator.resume("thread")

    assert (len(bank.paid), outcomes(state)[0][1]) == (1, "unknown")


def test_a_tool_that_asks_a_person_itself_runs_on_after_the_answer():
    class Asking(Bank):
        def tools(self):
            def pay(to: str) -> str:
                """Pay after a question."""
                answer = interrupt(f"Pay {to}?")
                self.paid.append((to, 1.0))
                return str(answer)

            return [pay]

    bank = Asking()
    orchestrator, _ = build(bank, pay({"to": "Ada"}), "done", checkpointer=InMemorySaver())
    orchestrator.run("x", "thread")
    state = orchestrator.resume("thread", "yes")

    assert (state["status"], outcomes(state), len(bank.paid)) == ("success", [("yes", None)], 1)


def test_a_call_of_a_parallel_step_in_which_the_process_died_is_not_made_again():
    plan = [{"step": "Pay Ada", "needs": []}, {"step": "Pay Bob", "needs": []}]
    bank = Bank(Crash())

    def reply(messages):
        prompt = messages[1].text
        step = max("Ada", "Bob", key=prompt.rfind)
        return pay({"to": step}) if len(messages) == 2 else "done"

    orchestrator, _ = build(
        bank,
        plan=plan,
        checkpointer=InMemorySaver(),
        supervision_policy=SupervisionPolicy(human=False),
        reply=reply,
    )
    with pytest.raises(KeyboardInterrupt):
        orchestrator.run("x", "thread")
    state = orchestrator.resume("thread")

    assert state["status"] == "success"
    # A reply of the other step was decided about before the crash, so that its call may have begun, too.
    assert bank.paid.count(("Ada", 1.0)) == 1
    assert bank.paid.count(("Bob", 1.0)) <= 1
    assert outcomes(state)[0][1] == "unknown"


def test_a_tool_that_calls_an_agent_is_not_called_again_after_a_crash_if_nobody_can_be_asked():
    bank = Bank(Crash())
    inner = ExecutionAgent(ScriptedChatModel([pay(ADA), pay(ADA), "done"]), bank.tools())

    def delegate(text: str) -> str:
        """Hand the work on."""
        return inner.execute_step(text)

    asked = AIMessage("", tool_calls=[{"name": "delegate", "args": {"text": "pay"}, "id": "1"}])
    executor = ExecutionAgent(ScriptedChatModel([asked, "done"]), [delegate, *bank.tools()])
    orchestrator = LangGraphOrchestrator(
        FakePlanner(["Pay"]),
        executor,
        FakeMonitor(),
        acting_tools=["pay"],
        checkpointer=InMemorySaver(),
        supervision_policy=SupervisionPolicy(human=False),
    )
    with pytest.raises(KeyboardInterrupt):
        orchestrator.run("x", "thread")
    state = orchestrator.resume("thread")

    [call] = [call for call in state["results"][0]["tool_calls"] if call["name"] == "delegate"]
    assert (state["status"], len(bank.paid), call["gate"]) == ("success", 1, "unknown")
