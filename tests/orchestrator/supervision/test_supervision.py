"""Supervision: commit, execute, assess, reconcile, supervise; every row of its table."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from agents import ExecutionAgent, MonitoringAgent, TransportRetry
from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract
from orchestrator import (
    Budget,
    ConfigurationError,
    LangGraphOrchestrator,
    ModelSupervisor,
    RetryPolicy,
    SupervisionPolicy,
)
from tests.fakes.executor import FakeExecutor
from tests.fakes.hook import RecordingHook
from tests.fakes.monitor import FakeMonitor, accept, refuse
from tests.fakes.planner import FakePlanner
from tests.fakes.supervision import (
    FakeSupervisor,
    SpeakingExecutor,
    ask_human,
    go_on,
    halt,
    met,
    missed,
    reorient,
)

DONE = EvaluationContract(required_content=[{"text": "done"}])
QUICK = RetryPolicy(transport=TransportRetry(max_attempts=2, initial_seconds=0.001))


def build(supervisor=None, executor=None, monitor=None, plan=("one",), **options):
    agents = FakePlanner(list(plan)), executor or SpeakingExecutor(), monitor or FakeMonitor()
    given = {"supervision": "llm", "supervisor": supervisor or FakeSupervisor()}
    return LangGraphOrchestrator(*agents, **{**given, **options})


def run(*agents, **options):
    return build(*agents, **options).run("x")


def replying(answer):
    return ScriptedChatModel(lambda messages: json.dumps(answer))


def statuses(state):
    return [record["status"] for record in state["results"]]


def failure(state):
    return state["failure"] and state["failure"]["kind"]


def supervision(state, at=0):
    return state["results"][at]["supervision"]


# A clean step


def test_a_clean_step_makes_no_supervising_call():
    supervisor = FakeSupervisor()
    state = run(supervisor, plan=["one", "two"])

    assert (state["status"], supervisor.requests, len(supervisor.compared)) == ("success", [], 2)


def test_a_clean_step_asks_the_model_to_commit_and_to_assess_and_nothing_else():
    model = ScriptedChatModel(['{"interpretation": "I will"}', "out", '{"met": true}'])
    supervisor = ScriptedChatModel([])
    state = run(ModelSupervisor(supervisor), ExecutionAgent(model))

    assert (state["status"], len(model.prompts), supervisor.prompts) == ("success", 3, [])


@pytest.mark.parametrize(
    "found",
    [
        {"said": [missed()]},
        {"said": [met(deviations=["I left a part out"])]},
        {"said": [met(concerns=["it may be wrong"])]},
        {"said": [met(unexpected=["there was no sea"])]},
        {"said": ["as planned"]},
        {"said": [{"met_commitment": "perhaps"}]},
        {"committed": ["I will"]},
        {"committed": [{"interpretation": "x", "assumptions": ["a", "b", "c"]}]},
    ],
    ids=json.dumps,
)
def test_a_step_that_is_not_clean_is_supervised(found):
    model = replying(halt())
    policy = SupervisionPolicy(max_assumptions=2)
    state = run(model, SpeakingExecutor(**found), supervision_policy=policy)

    assert (failure(state), len(model.prompts)) == ("halted", 1)


@pytest.mark.parametrize(
    ("found", "triggers"),
    [
        ({"said": [missed()]}, ["commitment_not_met"]),
        ({"said": [met(deviations=["a", "b"])]}, ["deviation:a", "deviation:b"]),
        ({"said": [met(concerns=["c"])]}, ["concern:c"]),
        ({"said": [met(unexpected=["u"])]}, ["unexpected:u"]),
        ({"committed": ["I will"]}, ["commitment_unreadable"]),
        ({"committed": [{"interpretation": "x", "assumptions": ["a", "b"]}]}, ["excess_assumptions:2"]),
    ],
)
def test_the_record_holds_what_was_not_as_committed_to(found, triggers):
    policy = SupervisionPolicy(max_assumptions=1)
    state = run(replying(halt()), SpeakingExecutor(**found), supervision_policy=policy)

    assert supervision(state)["triggers"] == triggers


def test_a_self_assessment_that_cannot_be_read_counts_as_not_met_with_a_concern_that_says_so():
    state = run(FakeSupervisor(halt()), SpeakingExecutor(said=["hmm"]))
    assessment = supervision(state)["assessment"]

    assert (assessment["met_commitment"], assessment["readable"]) == (False, False)
    assert "cannot be read" in assessment["concerns"][0]


def test_a_step_that_only_the_evaluation_finds_fault_with_is_supervised():
    supervisor = FakeSupervisor(halt())
    state = run(supervisor, SpeakingExecutor("bad"), contract=DONE)

    assert (failure(state), len(supervisor.requests)) == ("halted", 1)
    assert all(trigger.startswith("evaluation:") for trigger in supervision(state)["triggers"])


def test_a_comparison_that_leaves_the_evaluation_out_does_not_make_a_step_clean():
    blind = FakeSupervisor(halt(), reconciled=lambda *_: {"triggers": [], "escalate": False})
    state = run(blind, SpeakingExecutor("bad"), contract=DONE)

    assert failure(state) == "halted"


@pytest.mark.parametrize(
    "reconciled",
    [
        None,
        "clean",
        {},
        {"triggers": []},
        {"triggers": None, "escalate": False},
        {"triggers": [], "escalate": "no"},
        {"triggers": ["x"], "escalate": False},
        ValueError("no"),
    ],
    ids=str,
)
def test_a_comparison_that_does_not_say_that_a_step_is_clean_escalates(reconciled):
    supervisor = FakeSupervisor(halt(), reconciled=lambda *_: reconciled)
    state = run(supervisor)

    assert (failure(state), len(supervisor.requests)) == ("halted", 1)


def test_a_step_without_a_verdict_of_the_monitor_is_not_clean():
    supervisor = FakeSupervisor()
    state = run(supervisor, monitor=FakeMonitor("hmm"))

    assert (failure(state), len(supervisor.requests)) == ("needs_review", 1)


# The verdicts


def test_continue_validates_a_step_that_the_evaluation_passed():
    state = run(FakeSupervisor(go_on("good enough")), SpeakingExecutor(said=[missed()]))

    assert (state["status"], statuses(state)) == ("success", ["validated"])
    assert supervision(state)["verdict"]["verdict"] == "continue"
    assert supervision(state)["verdict"]["reason"] == "good enough"


def test_continue_does_not_undo_what_the_evaluation_refused():
    state = run(FakeSupervisor(go_on()), SpeakingExecutor("bad"), contract=DONE, max_retries=1)

    assert (failure(state), statuses(state)) == ("attempts_exhausted", ["failed", "failed"])


def test_reorient_executes_the_step_again_with_the_correction_in_its_instruction():
    executor = SpeakingExecutor(said=[missed(), met()])
    state = run(FakeSupervisor(reorient("use fewer words")), executor)

    assert (state["status"], statuses(state)) == ("success", ["failed", "validated"])
    assert executor.calls[1].step == "one\n\nKeep to these corrections:\n- use fewer words"


def test_a_correction_is_no_retry():
    state = run(FakeSupervisor(reorient()), SpeakingExecutor(said=[missed(), met()]), max_retries=0)

    assert (state["status"], state["retries"]["semantic"]) == ("success", 0)


def test_corrections_accumulate():
    executor = SpeakingExecutor(said=[missed(), missed(), met()])
    run(FakeSupervisor(reorient("shorter"), reorient("no commas")), executor)

    assert executor.calls[2].step.endswith("\n- shorter\n- no commas")


def test_corrections_are_kept_over_a_retry():
    executor = SpeakingExecutor("bad", "bad", "done", said=[missed(), met()])
    run(FakeSupervisor(reorient("shorter"), go_on()), executor, contract=DONE)

    assert [call.step.endswith("\n- shorter") for call in executor.calls] == [False, True, True]


def test_corrections_of_one_step_are_not_those_of_the_next():
    executor = SpeakingExecutor(said=[missed(), met()])
    run(FakeSupervisor(reorient("shorter")), executor, plan=["one", "two"])

    assert executor.calls[-1].step == "two"


def test_a_redone_output_is_assessed_and_compared_again():
    executor = SpeakingExecutor("first", "second", said=[missed(), met()])
    supervisor = FakeSupervisor(reorient())
    run(supervisor, executor)

    assert [output for _, _, output in executor.assessments] == ["first", "second"]
    assert len(supervisor.compared) == 2


def test_a_redone_output_that_is_clean_is_not_supervised_again():
    supervisor = FakeSupervisor(reorient())
    run(supervisor, SpeakingExecutor(said=[missed(), met()]))

    assert len(supervisor.requests) == 1


def test_a_redone_output_is_evaluated_again():
    executor = SpeakingExecutor("done", "bad", said=[missed(), met()])
    state = run(FakeSupervisor(reorient(), halt()), executor, contract=DONE)

    assert [record["report"]["status"] for record in state["results"]] == ["passed", "failed"]
    assert failure(state) == "halted"


def test_a_step_is_committed_to_once_however_often_it_is_executed():
    executor = SpeakingExecutor(said=[missed(), met()])
    state = run(FakeSupervisor(reorient()), executor, plan=["one", "two"])

    assert executor.commitments == ["one", "two"]
    assert supervision(state, 1)["commitment"] == supervision(state, 0)["commitment"]


@pytest.mark.parametrize("bound", [1, 2, 3])
def test_a_supervisor_has_a_step_done_again_only_so_often(bound):
    executor = SpeakingExecutor(said=[missed()])
    policy = SupervisionPolicy(max_reorient_attempts=bound)
    state = run(FakeSupervisor(reorient("shorter")), executor, supervision_policy=policy)

    assert (failure(state), len(executor.calls)) == ("needs_review", bound + 1)
    assert f"all {bound} of max_reorient_attempts were made" in state["failure"]["message"]
    assert "shorter" in state["failure"]["message"]


def test_out_of_attempts_the_human_is_asked_where_there_is_one():
    executor = SpeakingExecutor(said=[missed()])
    state = run(FakeSupervisor(reorient("shorter")), executor, checkpointer=InMemorySaver())

    assert state["status"] == "executing"
    assert "it still wants: shorter" in state["question"]["text"]


def test_the_bound_on_corrections_is_that_of_each_step():
    executor = SpeakingExecutor(said=[missed(), met(), missed(), met()])
    policy = SupervisionPolicy(max_reorient_attempts=1)
    state = run(FakeSupervisor(reorient()), executor, plan=["one", "two"], supervision_policy=policy)

    assert state["status"] == "success"


def test_ask_human_without_one_fails_the_step_with_the_question():
    state = run(FakeSupervisor(ask_human("May I pay?")), SpeakingExecutor(said=[missed()]))

    assert (failure(state), statuses(state)) == ("needs_review", ["needs_review"])
    assert "nobody is there to be asked: May I pay?" in state["failure"]["message"]


def test_ask_human_with_one_asks():
    executor = SpeakingExecutor(said=[missed()])
    state = run(FakeSupervisor(ask_human("May I pay?")), executor, checkpointer=InMemorySaver())

    assert (state["status"], state["question"]["text"]) == ("executing", "May I pay?")


def test_a_policy_without_people_asks_nobody_even_with_a_checkpointer():
    options = {"checkpointer": InMemorySaver(), "supervision_policy": SupervisionPolicy(human=False)}
    state = run(FakeSupervisor(ask_human()), SpeakingExecutor(said=[missed()]), **options)

    assert failure(state) == "needs_review"


def test_a_halt_ends_the_run_with_the_supervisors_reason():
    state = run(FakeSupervisor(halt("this is dangerous")), SpeakingExecutor(said=[missed()]))

    assert (state["status"], failure(state), statuses(state)) == ("failed", "halted", ["failed"])
    assert state["failure"]["message"] == "step 1: the supervisor halted the run: this is dangerous"


def test_a_halt_without_a_reason_halts():
    state = run(FakeSupervisor({"verdict": "halt"}), SpeakingExecutor(said=[missed()]))

    assert state["failure"]["message"] == "step 1: the supervisor halted the run: no reason given"


def test_nothing_runs_after_a_halt():
    executor = SpeakingExecutor(said=[missed()])
    policy = RetryPolicy(max_replans=3, exhausted="accept_best")
    run(FakeSupervisor(halt()), executor, plan=["one", "two"], retry_policy=policy)

    assert [call.step for call in executor.calls] == ["one"]


# What cannot be read


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "",
        "continue",
        {},
        [],
        {"verdict": "carry on"},
        {"verdict": True},
        {"verdict": ["continue"]},
        {"verdict": "continue", "correction": "but shorter"},
        {"verdict": "continue", "question": "is it?"},
        {"verdict": "reorient"},
        {"verdict": "ask_human"},
        {"answer": "continue"},
    ],
    ids=str,
)
def test_an_answer_of_a_supervisor_that_cannot_be_read_asks_a_person(answer):
    state = run(FakeSupervisor(answer), SpeakingExecutor(said=[missed()]), checkpointer=InMemorySaver())

    assert (state["status"], state["question"]["kind"]) == ("executing", "supervision")
    assert "cannot be read" in state["question"]["text"]


def test_a_model_that_says_continue_within_doubts_asks_a_person():
    model = ScriptedChatModel(['I would not say {"verdict": "continue", "text": "fine"}'])
    executor = SpeakingExecutor(said=[missed()])
    state = run(model, executor, checkpointer=InMemorySaver())

    assert (state["status"], supervision(state)["verdict"]["verdict"]) == ("executing", "ask_human")


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["verdict", "correction", "question", "reason", "x"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)
unreadable = json_like.filter(
    lambda answer: (
        not (
            isinstance(answer, dict)
            and isinstance(answer.get("verdict"), str)
            and answer["verdict"].strip().lower() == "continue"
        )
    )
)


@cache
def doubted(model=False):
    """A run of two steps that are not as planned, whose supervisor answers what the list holds."""
    answer = []
    executor = SpeakingExecutor(said=[missed()])
    supervisor = ScriptedChatModel(lambda _: answer[0]) if model else FakeSupervisor(lambda _: answer[0])
    return answer, executor, build(supervisor, executor, plan=["one", "two"])


@settings(max_examples=60, deadline=None)
@given(unreadable)
def test_no_answer_that_does_not_say_so_continues_a_run(answer):
    given_answer, executor, orchestrator = doubted()
    given_answer[:] = [answer]

    assert orchestrator.run("x")["status"] == "failed"
    assert not any(call.step.startswith("two") for call in executor.calls)


garbled = st.text(max_size=60) | st.sampled_from(
    [
        '{"verdict": "continue"',
        '{"verdict": "continue", "verdict": "halt"}',
        '{"verdict": "proceed"}',
        "continue",
        "I think we should continue.",
        '["continue"]',
        '{"continue": true}',
    ]
)


@settings(max_examples=60, deadline=None)
@given(garbled)
def test_no_reply_of_a_model_that_cannot_be_read_continues_a_run(reply):
    given_answer, executor, orchestrator = doubted(model=True)
    given_answer[:] = [reply]

    assert orchestrator.run("x")["status"] == "failed"
    assert not any(call.step.startswith("two") for call in executor.calls)


# What the supervisor sees


def test_a_supervisor_sees_the_objective_the_output_the_commitment_the_triggers_and_the_findings():
    supervisor = FakeSupervisor(halt())
    state = run(supervisor, SpeakingExecutor("bad", said=[missed(concerns=["c"])]), contract=DONE)
    [request] = supervisor.requests

    assert (request["objective"], request["output"]) == ("one", "bad")
    assert request["commitment"]["interpretation"] == "I will one"
    assert request["assessment"]["concerns"] == ["c"]
    assert request["triggers"] == supervision(state)["triggers"]
    assert "done" in request["findings"][0]


def test_a_supervisor_sees_the_whole_output():
    supervisor = FakeSupervisor(halt())
    run(supervisor, SpeakingExecutor("long " * 5000, said=[missed()]))

    assert supervisor.requests[0]["output"] == "long " * 5000


@tool
def look_up(word: str) -> str:
    """Look a word up."""
    return f"{word} is a word"


def test_the_tools_that_were_used_come_from_the_record_and_not_from_the_model():
    call = AIMessage("", tool_calls=[{"name": "look_up", "args": {"word": "sea"}, "id": "1"}])
    commitment = '{"interpretation": "I will", "tools_used": ["bank"]}'
    assessment = '{"met": false, "tools_used": ["bank"]}'
    model = ScriptedChatModel([commitment, call, "out", assessment])
    state = run(FakeSupervisor(halt()), ExecutionAgent(model, [look_up]))

    assert supervision(state)["assessment"]["tools_used"] == ["look_up"]


class Forging(SpeakingExecutor):
    """Rewrites, once it is done, what it had committed to."""

    def assess_step(self, step, commitment, output):
        commitment["interpretation"] = "whatever came of it"
        return missed()


class Tampering(FakeSupervisor):
    """Empties what it is shown."""

    def reconcile(self, commitment, assessment, findings):
        answer = super().reconcile(commitment, assessment, findings)
        commitment.clear()
        assessment.clear()
        return answer

    def supervise(self, request):
        request["triggers"].clear()
        request["commitment"].clear()
        return go_on()


def test_an_executor_cannot_change_what_it_committed_to():
    state = run(FakeSupervisor(), Forging())

    assert supervision(state)["commitment"]["interpretation"] == "I will one"


def test_a_supervisor_cannot_change_the_record():
    state = run(Tampering(), SpeakingExecutor(said=[missed()]))

    assert supervision(state)["commitment"]["interpretation"] == "I will one"
    assert supervision(state)["assessment"]["met_commitment"] is False
    assert supervision(state)["triggers"] == ["commitment_not_met"]


# Those who fail


def test_a_supervisor_that_raises_fails_the_step_with_its_cause():
    state = run(FakeSupervisor(ValueError("no key")), SpeakingExecutor(said=[missed()]))

    assert (failure(state), state["failure"]["error_type"]) == ("supervisor_error", "ValueError")
    assert state["failure"]["message"] == "step 1: ValueError: no key"
    assert (statuses(state), state["results"][0]["error"]) == (["needs_review"], "ValueError: no key")


def test_a_supervisor_that_raises_what_may_pass_is_asked_again():
    supervisor = FakeSupervisor(ConnectionError("gone"), go_on())
    state = run(supervisor, SpeakingExecutor(said=[missed()]), retry_policy=QUICK)

    assert (state["status"], len(supervisor.requests), state["retries"]["transport"]) == ("success", 2, 1)


def test_a_supervisor_that_stays_away_fails_the_step_with_its_cause():
    supervisor = FakeSupervisor(ConnectionError("gone"))
    state = run(supervisor, SpeakingExecutor(said=[missed()]), retry_policy=QUICK)

    assert (failure(state), state["failure"]["error_type"]) == ("supervisor_error", "ConnectionError")
    assert len(supervisor.requests) == 2


@pytest.mark.parametrize("phase", ["committed", "said"])
def test_an_executor_that_raises_about_its_work_ends_the_run_with_its_cause(phase):
    state = run(executor=SpeakingExecutor(**{phase: [ValueError("no")]}))

    assert (failure(state), state["failure"]["message"]) == ("executor_error", "step 1: ValueError: no")


def test_a_commitment_that_fails_keeps_a_step_from_being_executed():
    executor = SpeakingExecutor(committed=[ValueError("no")])
    run(executor=executor)

    assert executor.calls == []


# Modes


@pytest.mark.parametrize("options", [{"supervision": "none"}, {"supervision": lambda step, index: "none"}])
def test_in_mode_none_nothing_of_it_runs(options):
    executor, supervisor = SpeakingExecutor(said=[missed()]), FakeSupervisor(halt())
    state = run(supervisor, executor, **options)

    assert (state["status"], supervision(state)) == ("success", None)
    assert (executor.commitments, executor.assessments, supervisor.compared) == ([], [], [])


def test_in_mode_none_no_model_call_is_added():
    model = ScriptedChatModel(lambda messages: '{"success": true, "feedback": "out"}')
    agents = FakePlanner(["one"]), ExecutionAgent(model), MonitoringAgent(model)
    state = LangGraphOrchestrator(*agents, supervision="none").run("x")

    assert (state["usage"]["model_calls"], len(model.prompts)) == (2, 2)


def test_a_step_has_its_own_mode():
    executor = SpeakingExecutor(said=[missed()])
    modes = {"one": "none", "two": "llm", "three": "human"}
    supervisor = FakeSupervisor()
    state = run(
        supervisor,
        executor,
        plan=list(modes),
        supervision=lambda step, index: modes[step],
        checkpointer=InMemorySaver(),
    )

    assert [record["supervision"] and record["supervision"]["mode"] for record in state["results"]] == [
        None,
        "llm",
        "human",
    ]
    assert (len(supervisor.requests), state["question"]["step_index"]) == (1, 2)


def test_a_function_of_modes_is_given_the_text_and_the_index_of_each_step():
    asked = []
    run(plan=["one", "two"], supervision=lambda step, index: asked.append((step, index)) or "none")

    assert asked == [("one", 0), ("two", 1)]


def test_the_steps_of_a_new_plan_have_their_own_modes():
    executor = SpeakingExecutor("bad", "done", said=[missed()])
    planner = FakePlanner(["one"], ["two"])
    supervisor = FakeSupervisor()
    orchestrator = LangGraphOrchestrator(
        planner,
        executor,
        FakeMonitor(),
        max_retries=0,
        contract=DONE,
        supervision=lambda step, index: "llm" if index else "none",
        supervisor=supervisor,
        retry_policy=RetryPolicy(max_replans=1),
    )
    state = orchestrator.run("x")

    assert (state["status"], executor.commitments, len(supervisor.requests)) == ("success", ["two"], 1)


def test_in_mode_human_every_step_is_asked_about_without_a_supervising_call():
    supervisor = FakeSupervisor(halt())
    state = run(supervisor, supervision="human", checkpointer=InMemorySaver())

    assert (state["question"]["text"], supervisor.requests) == ("Does the output of step 1 stand?", [])


def test_in_mode_human_agents_without_a_model_will_do():
    orchestrator = LangGraphOrchestrator(
        FakePlanner(["one"]), FakeExecutor(), FakeMonitor(), supervision="human", checkpointer=InMemorySaver()
    )
    state = orchestrator.run("x")

    assert (state["status"], supervision(state)["commitment"]) == ("executing", None)


@pytest.mark.parametrize("mode", ["LLM", "", None, True, 3, ["llm"]], ids=repr)
def test_an_unknown_mode_is_refused_before_anything_runs(mode):
    with pytest.raises(ConfigurationError, match="give 'none', 'llm', 'human', or a function"):
        build(supervision=mode)


@pytest.mark.parametrize(
    ("mode", "sentence"),
    [
        (lambda step, index: "maybe" if index else "none", "step 2: supervision is 'maybe'; give 'none'"),
        (lambda step, index: None, "step 1: supervision is None"),
        (lambda step, index: 1 / (1 - index), "step 1: supervision is 1.0"),
        (lambda step, index: {0: "none"}[index], "step 2: supervision raised KeyError"),
        (lambda step, index: "human", "step 1: supervision is 'human', and there is no checkpointer"),
    ],
    ids=["unknown", "none", "number", "raises", "human"],
)
def test_a_function_of_modes_that_gives_none_ends_the_run_before_the_first_step(mode, sentence):
    executor = SpeakingExecutor()
    state = run(executor=executor, plan=["one", "two"], supervision=mode)

    assert (failure(state), executor.calls, executor.commitments) == ("supervision_invalid", [], [])
    assert state["failure"]["message"].startswith(sentence)


def test_mode_human_without_a_checkpointer_is_refused():
    with pytest.raises(ConfigurationError, match="'human', and there is no checkpointer"):
        build(supervision="human")


def test_mode_llm_without_a_model_for_it_is_refused():
    with pytest.raises(ConfigurationError, match="'llm', and there is no model for it"):
        LangGraphOrchestrator(FakePlanner(), FakeExecutor(), FakeMonitor(), supervision="llm")


@pytest.mark.parametrize(
    "supervisor", ["gpt", 3, object(), FakeMonitor()], ids=lambda one: type(one).__name__
)
def test_what_is_no_supervisor_is_refused(supervisor):
    with pytest.raises(ConfigurationError, match="give a chat model, or an object with reconcile"):
        build(supervisor)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"max_reorient_attempts": 0}, "max_reorient_attempts is 0; give a whole number of at least 1"),
        ({"max_reorient_attempts": -1}, "max_reorient_attempts is -1; give a whole number of at least 1"),
        ({"max_reorient_attempts": True}, "max_reorient_attempts is True; give a whole number"),
        ({"max_reorient_attempts": 1.5}, "max_reorient_attempts is 1.5; give a whole number"),
        ({"max_corrections": 0}, "max_corrections is 0; give a whole number of at least 1"),
        ({"max_assumptions": -1}, "max_assumptions is -1; give a whole number of at least 0"),
        ({"human": "yes"}, "human is 'yes'; give True or False"),
        ({"answer_deadline_s": 0}, "answer_deadline_s is 0; give seconds above 0, or None"),
        ({"answer_deadline_s": float("inf")}, "answer_deadline_s is inf; give seconds above 0"),
        ({"on_deadline": "ignore"}, "on_deadline is 'ignore'; give 'approve' or 'deny'"),
    ],
)
def test_a_supervision_policy_names_the_argument_what_was_given_and_what_is_accepted(arguments, sentence):
    with pytest.raises(ConfigurationError) as raised:
        SupervisionPolicy(**arguments)

    assert str(raised.value).startswith(sentence)


def test_what_is_no_supervision_policy_is_refused():
    with pytest.raises(ConfigurationError, match="supervision_policy is 3; give a SupervisionPolicy"):
        build(supervision_policy=3)


# Who supervises


def test_a_model_may_be_the_supervisor():
    model = replying({"verdict": "halt", "text": "no more"})
    state = run(model, SpeakingExecutor(said=[missed()]))

    assert (failure(state), len(model.prompts)) == ("halted", 1)


def test_the_monitors_model_supervises_where_none_is_given():
    verdicts = ['{"success": true, "feedback": "good"}', '{"verdict": "halt", "text": "no more"}']
    model = ScriptedChatModel(verdicts)
    orchestrator = LangGraphOrchestrator(
        FakePlanner(["one"]), SpeakingExecutor(said=[missed()]), MonitoringAgent(model), supervision="llm"
    )

    assert (failure(orchestrator.run("x")), len(model.prompts)) == ("halted", 2)


def test_a_dedicated_supervisor_leaves_the_agents_model_alone():
    agents, dedicated = ScriptedChatModel(['{"success": true, "feedback": "good"}']), replying(halt())
    state = run(dedicated, SpeakingExecutor(said=[missed()]), MonitoringAgent(agents))

    assert (failure(state), len(agents.prompts), len(dedicated.prompts)) == ("halted", 1, 1)


class AwaitedSupervisor(FakeSupervisor):
    """Decides as a coroutine."""

    async def supervise(self, request):
        return super().supervise(request)


def test_a_supervisor_may_be_awaited():
    assert failure(run(AwaitedSupervisor(halt()), SpeakingExecutor(said=[missed()]))) == "halted"


class AwaitedComparison(FakeSupervisor):
    """Compares as a coroutine, which nobody awaits."""

    async def reconcile(self, commitment, assessment, findings):
        return {"triggers": [], "escalate": False}


def test_a_supervisor_whose_comparison_has_to_be_awaited_is_refused():
    with pytest.raises(ConfigurationError, match=r"AwaitedComparison whose reconcile\(\) is a coroutine"):
        build(AwaitedComparison())


def test_the_executors_model_commits_and_assesses():
    model = ScriptedChatModel(['{"interpretation": "I will"}', "out", '{"met": false, "concerns": ["c"]}'])
    supervisor = FakeSupervisor(halt())
    run(supervisor, ExecutionAgent(model))

    assert supervisor.requests[0]["commitment"]["interpretation"] == "I will"
    assert supervisor.requests[0]["assessment"]["concerns"] == ["c"]


# What is left behind


def test_the_record_of_an_execution_holds_the_whole_supervision():
    executor = SpeakingExecutor("first", "second", said=[missed(deviations=["d"]), met()])
    state = run(FakeSupervisor(reorient("shorter")), executor)
    first, second = supervision(state, 0), supervision(state, 1)

    assert first["mode"] == "llm"
    assert first["commitment"]["instruction"] == "one"
    assert first["assessment"]["actual_output"] == "first"
    assert first["triggers"] == ["commitment_not_met"]
    assert first["verdict"]["correction"] == "shorter"
    assert (second["assessment"]["actual_output"], second["verdict"], second["answer"]) == (
        "second",
        None,
        None,
    )


def test_supervision_counts_what_it_spent_for_the_run_and_the_execution():
    replies = ['{"interpretation": "I will"}', "out", '{"met": false}']
    executor = ExecutionAgent(ScriptedChatModel(replies, usage=(5, 1)))
    supervisor = ScriptedChatModel(['{"verdict": "continue", "text": "fine"}'], usage=(5, 1))
    state = run(supervisor, executor)

    assert state["usage"]["model_calls"] == 4
    assert state["results"][0]["usage"]["model_calls"] == 1
    assert state["results"][0]["judge_usage"]["model_calls"] == 3


@pytest.mark.parametrize("calls", [1, 2, 3])
def test_supervision_is_bound_by_the_budget(calls):
    replies = ['{"interpretation": "I will"}', "out", '{"met": false}']
    executor, supervisor = ScriptedChatModel(replies), replying(go_on())
    state = run(supervisor, ExecutionAgent(executor), budget=Budget(max_model_calls=calls))

    assert (failure(state), len(executor.prompts) + len(supervisor.prompts)) == ("budget_exceeded", calls)


@pytest.mark.parametrize("phase", ["commit", "assess", "supervise"])
def test_supervision_that_goes_past_the_budget_ends_the_run(phase):
    verdict = json.dumps({"verdict": "continue", "text": "it is fine"})
    dear, cheap = ScriptedChatModel(lambda messages: verdict, usage=(90, 10)), FakeSupervisor(go_on())
    executor = SpeakingExecutor(
        committed=[lambda step: dear.invoke(step) and {"interpretation": "x"}] if phase == "commit" else (),
        said=[lambda *_: (phase == "assess" and dear.invoke("x") and met()) or missed()],
    )
    supervisor = dear if phase == "supervise" else cheap
    state = run(supervisor, executor, plan=["one", "two"], budget=Budget(max_total_tokens=50))

    assert (failure(state), state["question"]) == ("budget_exceeded", None)
    assert (len(dear.prompts), state["usage"]["total_tokens"]) == (1, 100)
    assert executor.commitments == ["one"]


def test_hooks_are_told_of_a_correction():
    hook = RecordingHook()
    run(FakeSupervisor(reorient("shorter")), SpeakingExecutor(said=[missed(), met()]), hooks=[hook])
    [retried] = [event for event in hook.events if type(event).__name__ == "StepRetried"]

    assert (retried.attempt, retried.feedback) == (2, "shorter")


def test_each_execution_is_judged_once_for_hooks():
    hook = RecordingHook()
    run(FakeSupervisor(reorient()), SpeakingExecutor(said=[missed(), met()]), hooks=[hook])

    assert hook.names.count("StepJudged") == 2


@pytest.mark.parametrize(
    "verdict", [go_on(), reorient(), ask_human(), halt(), "unreadable"], ids=lambda one: str(one)[:30]
)
@pytest.mark.parametrize("human", [True, False])
def test_the_stored_state_of_a_supervised_run_equals_the_returned_one(verdict, human):
    options = {"checkpointer": InMemorySaver(), "supervision_policy": SupervisionPolicy(human=human)}
    orchestrator = build(FakeSupervisor(verdict), SpeakingExecutor(said=[missed()]), **options)
    state = orchestrator.run("x", "thread")

    assert orchestrator.graph.get_state({"configurable": {"thread_id": "thread"}}).values == state


verdicts = st.sampled_from([go_on(), reorient(), ask_human(), halt(), "hmm", {"verdict": "no"}])
monitored = st.sampled_from([accept(), refuse(), "hmm"])
said = st.sampled_from([met(), missed(), "hmm"])


@settings(max_examples=30, deadline=None)
@given(st.lists(verdicts, min_size=1), st.lists(monitored, min_size=1), st.lists(said, min_size=1))
def test_whatever_those_who_take_part_say_a_run_keeps_its_bounds(decided, judged, assessed):
    executor = SpeakingExecutor(said=assessed)
    orchestrator = build(
        FakeSupervisor(*decided),
        executor,
        FakeMonitor(*judged),
        plan=["one", "two"],
        checkpointer=InMemorySaver(),
        supervision_policy=SupervisionPolicy(human=False, max_reorient_attempts=2),
        max_retries=1,
    )
    state = orchestrator.run("x", "thread")

    assert len(executor.calls) <= 2 * orchestrator.settings.executions_per_step
    assert orchestrator.graph.get_state({"configurable": {"thread_id": "thread"}}).values == state
    for record in state["results"]:
        found = record["supervision"]["verdict"]
        if found is not None and found["verdict"] == "halt":
            assert (failure(state), state["results"][-1]) == ("halted", record)
    assert statuses(state).count("validated") == state["current_step_index"]


def test_commitment_and_assessment_are_stamped_by_the_orchestrators_clock():
    at = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
    state = run(FakeSupervisor(), SpeakingExecutor(), clock=lambda: at)
    supervision = state["results"][0]["supervision"]

    assert (supervision["commitment"]["time"], supervision["assessment"]["time"]) == (at.isoformat(),) * 2


def test_what_committing_and_assessing_cost_counts_once_against_the_bound_on_calls():
    """Commit, execute, assess, judge and supervise one step: five calls."""
    model = ScriptedChatModel(
        [
            json.dumps({"interpretation": "do it", "confidence": "high", "assumptions": []}),
            "out",
            json.dumps({"met": False, "deviations": ["shorter"], "concerns": [], "unexpected": []}),
            json.dumps({"success": True, "feedback": "fine"}),
            json.dumps({"verdict": "continue", "text": "good enough"}),
        ]
    )
    orchestrator = LangGraphOrchestrator(
        FakePlanner(["one"]),
        ExecutionAgent(model),
        MonitoringAgent(model),
        supervision="llm",
        budget=Budget(max_model_calls=5),
    )

    assert orchestrator.run("x")["failure"] is None
