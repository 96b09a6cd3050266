from functools import partial

import pytest
from langchain.agents import create_agent
from langchain_core.tools import StructuredTool, ToolException
from langgraph.checkpoint.memory import InMemorySaver

from agents import ActingTool, EffectsMiddleware, ExecutionAgent, NoEffectError
from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract
from orchestrator import SupervisionPolicy
from orchestrator.persistence import open_store
from tests.fakes.acting import APPROVE, DENY, Crash, Office, ask, build_acting, list_outcomes, list_texts
from tests.fakes.monitor import FakeMonitor, accept, refuse
from tests.fakes.runs import build as build_run
from tests.fakes.runs import delegate_to

ACTED = {"answer": "correct", "text": "paid 1.0 to Ada, receipt 7", "answered_by": "Ada"}
PAID = "paid 1.0 to Ada"
PAY, PAY_BOB = ask(("pay", {"to": "Ada", "euros": 1.0})), ask(("pay", "Bob"))
ASKED = "May the tool pay run again? The answer correct does not run it: its text is the result of the call."
DOUBT = "The same call was made before, and it is not known whether it had its effect: "
NOT_AGAIN = (
    f"This call was made before and answered: {PAID}\n"
    "It is not made again. Go on without it, and say so in your answer."
)
build = partial(build_acting, acting_tools=["pay"])


def retry(office, *replies, **options):
    return build(office, *replies, monitor=FakeMonitor(refuse(), accept()), **options)


def resume_after_crash(office, *replies, **options):
    orchestrator, model = build(office, *replies, checkpointer=InMemorySaver(), **options)
    with pytest.raises(KeyboardInterrupt):
        orchestrator.run("x", "thread")
    return orchestrator, model


def test_a_retry_gets_the_answer_of_a_call_that_acted_as_the_tool_reads_its_arguments(subtests):
    for args in [{"to": "Ada", "euros": 1}, {"to": "Ada", "euros": "1.0"}, {"to": "Ada"}]:
        with subtests.test(args=args):
            office = Office()
            orchestrator, model = retry(office, PAY, "hm", ask(("pay", args)), "done")
            state = orchestrator.run("x")

            assert (office.done, list_outcomes(state)) == (["pay Ada 1.0"], [(PAID, None), (PAID, "reused")])
            assert state["results"][1]["tool_calls"][0]["made_in"] == {"step_index": 0, "attempt": 1}
            told = f"{PAID}\n(This call was not made again: it was made in an earlier attempt.)"
            assert told in list_texts(model)


def test_a_retry_warns_of_a_call_that_was_made_again_since_only_its_name_says_that_it_acts(subtests):
    made_twice = "step 1: pay was called as before, which may have acted twice; give acting_tools=['pay']"
    for stated, times, warned in [(None, 2, made_twice), (["pay"], 1, "")]:
        with subtests.test(stated=stated):
            office, model = Office(), ScriptedChatModel([PAY, "hm", PAY, "done"])
            graph = create_agent(model, office.tools(), middleware=[EffectsMiddleware(stated)])
            options = {"plan": ["act"], "synthesis": False, "checkpointer": InMemorySaver()}
            state = build_run(graph, FakeMonitor(refuse(), accept()), **options).run("x", "thread")

            assert (len(office.done), " ".join(state["warnings"])[: len(made_twice)]) == (times, warned)


def test_a_retry_warns_of_a_call_of_an_agent_in_a_tool_with_the_middleware_that_prevents_it():
    office = Office()
    model = ScriptedChatModel([PAY, "paid", PAY, "paid"])
    inner = create_agent(model, office.tools(), middleware=[EffectsMiddleware()])
    given = ask(("delegate", "pay"))
    state = retry([delegate_to(inner)], given, "hm", given, "done", acting_tools=None)[0].run("x")

    [warning] = state["warnings"]
    assert len(office.done) == 2
    assert "give its agent EffectsMiddleware(['pay']), as create_agent takes it, to prevent it" in warning


def test_a_retry_warns_of_a_call_with_what_the_executor_accepts_to_prevent_it(subtests):
    class Opaque:
        def execute_step(self, step_description, context=""):
            return StructuredTool.from_function(Office().tools()[0]).invoke({"to": "Ada"})

    bare = create_agent(ScriptedChatModel([PAY, "hm", PAY, "done"]), Office().tools())
    for executor, option in [
        (Opaque(), "give an ExecutionAgent, or a graph whose agent has EffectsMiddleware(['pay']), as the"),
        (bare, "give its agent EffectsMiddleware(['pay']), as create_agent takes it, to prevent it"),
    ]:
        with subtests.test(executor=executor):
            orchestrator = build_run(executor, FakeMonitor(refuse(), accept()), plan=["act"])
            [warning] = orchestrator.run("x")["warnings"]
            assert option in warning


def test_an_answer_that_is_reused_twice_names_the_attempt_that_made_the_call():
    office, verdicts = Office(), FakeMonitor(refuse(), refuse(), accept())
    state = build(office, PAY, "hm", PAY, "hm", PAY, "done", monitor=verdicts)[0].run("x")

    first = {"step_index": 0, "attempt": 1}
    assert [each["tool_calls"][0].get("made_in") for each in state["results"]] == [None, first, first]


def test_a_retry_does_not_reuse_an_answer_if_another_call_acted_since_or_a_person_is_to_be_asked(subtests):
    for repeat, replies in [("reuse", [PAY, PAY_BOB]), ("ask", [PAY])]:
        with subtests.test(repeat=repeat):
            office, options = Office(), {"acting_tools": {"pay": ActingTool(repeat=repeat)}}
            orchestrator, model = retry(office, *replies, "hm", PAY, "done", **options)
            state = orchestrator.run("x")

            assert (office.done.count("pay Ada 1.0"), list_outcomes(state)[-1]) == (1, (PAID, "reused"))
            assert NOT_AGAIN in list_texts(model)


def test_a_person_decides_about_a_call_after_which_another_one_acted(subtests):
    for answer, times in [(APPROVE, 2), (DENY, 1)]:
        with subtests.test(answer=answer):
            office = Office()
            orchestrator, _ = retry(office, PAY, PAY_BOB, "hm", PAY, "done", checkpointer=InMemorySaver())
            question = orchestrator.run("x", "thread")["question"]
            state = orchestrator.resume("thread", answer)

            assert question["findings"] == [
                f"The same call was made before and acted; it answered {PAID!r}",
                f"""Before: pay {{"to": "Ada", "euros": 1.0}} answered {PAID!r} (acted)""",
                """Before: pay {"to": "Bob"} answered 'paid 1.0 to Bob' (acted)""",
            ]
            assert (state["status"], office.done.count("pay Ada 1.0")) == ("success", times)


def test_a_person_decides_whether_a_later_step_makes_a_call_that_acted(subtests):
    for answer, times, gate in [(APPROVE, 2, None), (DENY, 1, "denied"), (ACTED, 1, "stated")]:
        with subtests.test(answer=answer):
            office, options = Office(), {"plan": ["Pay", "Pay"], "checkpointer": InMemorySaver()}
            orchestrator, _ = build(office, PAY, "done", PAY, "done", **options)
            question = orchestrator.run("x", "thread")["question"]
            state = orchestrator.resume("thread", answer)

            assert (question["text"], question["step_index"]) == (ASKED, 1)
            assert (state["status"], len(office.done)) == ("success", times)
            assert list_outcomes(state)[1][1] == gate


def test_a_contract_bounds_the_calls_of_all_steps_together(subtests):
    expected = {"expected_trajectory": [{"name": "pay", "args": {"to": "Ada", "euros": 1.0}}]}
    for contract, times in [
        ({"checks": [{"check": "tool_calls", "tool": "pay", "max": 1}]}, 1),
        ({"checks": [{"check": "tool_calls", "tool": "pay", "exactly": 1}]}, 1),
        ({**expected, "trajectory": {"acting_tools": ["pay"]}}, 1),
        ({**expected, "trajectory_match_mode": "subset"}, 1),
        ({"checks": [{"check": "tool_calls", "tool": "send", "max": 1}]}, 3),
    ]:
        with subtests.test(contract=contract):
            office = Office()
            reply = lambda messages: PAY if len(messages) == 2 else "done"  # noqa: E731
            options = {"acting_tools": {"pay": ActingTool(repeat="allow")}, "contract": contract}
            plan = [f"step {at}" for at in range(3)]
            build(office, reply=reply, plan=plan, **options)[0].run("x")

            assert office.done == ["pay Ada 1.0"] * times


# ------------------------------------------------------------------- it is unknown what a call did


def test_without_a_person_a_call_with_an_unknown_effect_is_not_made_again(subtests):
    for fault, reason in [
        (TimeoutError("no answer in time"), "TimeoutError: no answer in time"),
        ("42", "42"),
        ("", "the call did not end"),
        ("504 Gateway Timeout", "504 Gateway Timeout"),
        ("Could not send the mail, but it is paid.", "Could not send the mail, but it is paid."),
    ]:
        with subtests.test(fault=fault):
            office = Office(fault)
            orchestrator, model = retry(office, PAY, "hm", PAY, "done")
            state = orchestrator.run("x")

            refusal = (
                f"This call was made before, and it is not known whether it had its effect ({reason}), "
                "so it is not made again. Go on without it, and say so in your answer."
            )
            assert (office.done, list_outcomes(state)[1]) == (["pay Ada 1.0"], (refusal, "unknown"))
            assert refusal in list_texts(model)
            assert "step 1: it is not known whether these calls had their effect: pay" in state["warnings"]


def test_a_person_decides_once_about_a_call_that_raised_whether_in_the_same_attempt_or_a_retry(subtests):
    for start, replies in [(build, [PAY, PAY]), (retry, [PAY, "hm", PAY])]:
        for answer, times in [(APPROVE, 2), (DENY, 1)]:
            with subtests.test(replies=replies, answer=answer):
                office = Office(TimeoutError("no answer in time"))
                orchestrator, _ = start(office, *replies, "done", checkpointer=InMemorySaver())
                question = orchestrator.run("x", "thread")["question"]
                state = orchestrator.resume("thread", answer)

                assert question["findings"][0] == f"{DOUBT}TimeoutError: no answer in time"
                assert (question["text"], state["status"], len(office.done)) == (ASKED, "success", times)


def test_a_call_that_surely_had_no_effect_is_made_again_in_a_retry(subtests):
    for fault in [NoEffectError("closed"), ToolException("no such account"), "Could not pay: card expired"]:
        with subtests.test(fault=fault):
            office = Office(fault)
            state = retry(office, PAY, "hm", PAY, "done")[0].run("x")

            calls = [call for record in state["results"] for call in record["tool_calls"]]
            assert (len(office.done), [call["outcome"] for call in calls]) == (2, ["refused", "acted"])


def test_a_call_that_acted_is_not_forgotten_when_an_equal_one_after_it_did_nothing(subtests):
    for fault in [NoEffectError("asked already"), ToolException("rate limit"), "Error: card expired"]:
        with subtests.test(fault=fault):
            office = Office(None, fault)
            state = retry(office, PAY, PAY, "hm", PAY, "done")[0].run("x")

            calls = [call["outcome"] for record in state["results"] for call in record["tool_calls"]]
            assert (len(office.done), calls) == (2, ["acted", "refused", "reused"])
    with subtests.test("denied"):
        office, options = Office(), {"plan": ["Pay", "Pay", "Pay"], "checkpointer": InMemorySaver()}
        orchestrator, _ = build(office, PAY, "done", PAY, "done", PAY, "done", **options)
        orchestrator.run("x", "thread")
        state = orchestrator.resume("thread", DENY)

        assert (state["question"]["step_index"], len(office.done)) == (2, 1)


def test_an_answer_is_not_reused_after_a_call_that_acted_by_the_word_of_a_person():
    office, monitor = Office(None, Crash()), FakeMonitor(refuse(), accept())
    orchestrator, _ = resume_after_crash(office, PAY, PAY_BOB, "hm", PAY, "done", monitor=monitor)
    orchestrator.resume("thread")
    state = orchestrator.resume("thread", ACTED)

    doubt = state["question"]["findings"][0]
    assert doubt == f"The same call was made before and acted; it answered {PAID!r}"


# ------------------------------------------------------------------- the process died in a call


def test_a_person_decides_whether_a_call_in_which_the_process_died_is_made_again(subtests):
    for answer, times in [(APPROVE, 2), (DENY, 1)]:
        with subtests.test(answer=answer):
            office = Office(Crash())
            orchestrator, _ = resume_after_crash(office, PAY, "done")
            question = orchestrator.resume("thread")["question"]
            done_before = [*office.done]
            state = orchestrator.resume("thread", answer)

            assert question["findings"] == [f"{DOUBT}the run was interrupted while the call was under way"]
            assert (state["status"], len(done_before), len(office.done)) == ("success", 1, times)


def test_the_text_of_a_person_is_the_result_of_a_call_in_which_the_process_died():
    office, options = Office(Crash()), {"contract": EvaluationContract(must_call=["pay"])}
    orchestrator, model = resume_after_crash(office, PAY, "done", **options)
    question = orchestrator.resume("thread")["question"]
    state = orchestrator.resume("thread", ACTED)

    [call] = state["results"][0]["tool_calls"]
    assert (question["accepts"], question["text"]) == (["approve", "correct", "deny", "halt"], ASKED)
    assert (state["status"], state["warnings"], office.done) == ("success", [], ["pay Ada 1.0"])
    assert (call["result"], call["error"], call["gate"]) == (ACTED["text"], None, "stated")
    assert (call["answer"]["answer"], call["answer"]["answered_by"]) == ("correct", "Ada")
    told = model.prompts[-1][-1]
    assert (told.text, told.status) == (ACTED["text"], "success")


@pytest.mark.parametrize("fault", [Crash(), TimeoutError("late")], ids=["crash", "error"])
def test_a_stated_result_outlives_a_kill_before_the_end(fault, tmp_path):
    office, crashes, is_crash = Office(fault), [Crash()], isinstance(fault, Crash)

    def reply(messages):
        if messages[-1].text == ACTED["text"]:
            if crashes:
                raise crashes.pop()
            return "done"
        return "hm" if messages[-1].type == "tool" else PAY

    def start(store, *verdicts):
        return build(office, reply=reply, monitor=FakeMonitor(*verdicts), checkpointer=store)[0]

    path = str(tmp_path / "runs.sqlite")
    if is_crash:
        with open_store(path) as store, pytest.raises(KeyboardInterrupt):
            start(store).run("x", "thread")
    with open_store(path) as store:
        orchestrator = start(store) if is_crash else start(store, refuse(), accept())
        waiting = orchestrator.resume("thread") if is_crash else orchestrator.run("x", "thread")
        with pytest.raises(KeyboardInterrupt):
            orchestrator.resume("thread", ACTED)
    with open_store(path) as store:
        state = start(store).resume("thread")

    assert (waiting["question"]["text"], state["question"], len(office.done)) == (ASKED, None, 1)
    assert (state["status"], list_outcomes(state)[-1]) == ("success", (ACTED["text"], "stated"))


def test_effects_stand_in_the_order_of_their_calls_also_those_of_starts_that_were_lost(subtests):
    for first, *then in [(ask(("pay", "Ada"), ("send", "Bob")),), (PAY, ask(("send", "Bob")))]:
        with subtests.test(then=then):
            office = Office(Crash())
            orchestrator, _ = resume_after_crash(office, first, *then, "done", acting_tools=["pay", "send"])
            state = orchestrator.resume("thread")
            while state["question"]:
                state = orchestrator.resume("thread", APPROVE)

            effects = [(each["name"], each["outcome"]) for each in state["effects"]]
            assert effects[:2] == [("pay", "unknown"), ("pay", "acted")]
            assert ({name for name, _ in effects[2:]}, effects[-1]) == ({"send"}, ("send", "acted"))


def test_a_tool_that_calls_an_agent_is_not_called_again_after_a_crash_if_nobody_can_be_asked():
    office = Office(Crash())
    inner = ExecutionAgent(ScriptedChatModel([PAY, PAY, "done"]), office.tools())
    tools, nobody = [delegate_to(inner), *office.tools()], SupervisionPolicy(human=False)
    replies = ask(("delegate", "pay")), "done"
    state = resume_after_crash(tools, *replies, supervision_policy=nobody)[0].resume("thread")

    [call] = [call for call in state["results"][0]["tool_calls"] if call["name"] == "delegate"]
    assert (state["status"], len(office.done), call["gate"]) == ("success", 1, "unknown")
