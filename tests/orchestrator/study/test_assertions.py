import json
from contextlib import nullcontext
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from agents.testing import ScriptedChatModel
from evaluation import (
    AgentRun,
    ContractError,
    EvaluationCase,
    EvaluationContract,
    RubricJudge,
    check,
    evaluate_many,
    read_cases,
)
from evaluation.recordings.run_files import read_runs
from orchestrator import ConfigurationError, LangGraphOrchestrator, RetryPolicy, assert_evaluation, replay
from orchestrator.persistence import open_store
from orchestrator.retry import FeedbackRule, ResampleRule
from orchestrator.study.recorded_evaluation import RecordedEvaluation
from orchestrator.study.replay import replay_policy
from tests.fakes.records import followed_by, judged, usage

PRICE = {"required_content": [{"number": 12.5}]}
RUN = {"input": "What does the atlas cost?", "final_output": "It costs 12.5 euros."}


SHORT = {"checks": [{"check": "word_count", "max": 3}]}


def run_orchestrator():
    orchestrator = LangGraphOrchestrator.from_model(
        ScriptedChatModel(["It costs 12.5 euros."]),
        contract=None,
        judge=lambda _: {"score": 5, "rationale": "good"},
        planning="never",
    )
    return orchestrator.run("What does the atlas cost?")


def test_every_form_of_a_run_is_accepted_with_its_report(subtests):
    for build in [
        lambda: RUN,
        lambda: AgentRun(**RUN),
        lambda: {"agent_run": RUN},
        lambda: EvaluationCase(agent_run=RUN),
        lambda: "It costs 12.5 euros.",
        lambda: {"messages": [HumanMessage("Cost?"), AIMessage("It costs 12.5 euros.")]},
        lambda: [HumanMessage("Cost?"), AIMessage("It costs 12.5 euros.")],
        lambda: (HumanMessage("Cost?"), AIMessage("It costs 12.5 euros.")),
        lambda: {"messages": [HumanMessage("Cost?"), AIMessage("It costs 12.5 euros.")], "todos": []},
        run_orchestrator,
    ]:
        for contract in [PRICE, EvaluationContract.model_validate(PRICE)]:
            with subtests.test(build=build, contract=contract):
                report = assert_evaluation(build(), contract=contract, require="checked", fail_on="warning")

                assert report.status == "passed"
                assert report.metrics.response["required_content"] == 1.0


def test_an_empty_contract_is_no_missing_one():
    assert not assert_evaluation(RUN).metrics.response.get("required_content")

    with pytest.raises(AssertionError, match="needs_review: the contract contains no check"):
        assert_evaluation(RUN, contract={})


def test_a_success_has_to_rest_on_what_is_required():
    assert_evaluation("Fine.", contract=SHORT)

    with pytest.raises(AssertionError, match=r"^passed: it rests on less than is required \(checked\)"):
        assert_evaluation("Fine.", contract=SHORT, require="checked")


def test_the_least_severe_status_that_fails_can_be_chosen(subtests):
    for fail_on, is_accepted in [("failed", True), ("warning", False)]:
        with subtests.test(fail_on=fail_on):
            slow = {"final_output": "a", "latency_ms": 900}
            contract = {"thresholds": {"latency_ms": {"max": 500, "severity": "warning"}}}

            if is_accepted:
                assert assert_evaluation(slow, contract=contract, fail_on=fail_on).status == "warning"
            else:
                with pytest.raises(AssertionError, match="warning: latency_ms"):
                    assert_evaluation(slow, contract=contract, fail_on=fail_on)


def test_the_contract_of_a_case_is_replaced_by_the_given_one():
    case = {"agent_run": {"final_output": "It costs 40 euros."}, "required_content": [{"number": 40}]}

    assert assert_evaluation(case).status == "passed"
    with pytest.raises(AssertionError, match="number"):
        assert_evaluation(case, contract=PRICE)


def test_own_checks_decide():
    @check
    def is_polite(context):
        return "please" in context.output

    assert_evaluation("Wait, please.", checks=[is_polite])
    with pytest.raises(AssertionError, match="is_polite"):
        assert_evaluation("Wait.", checks=[is_polite])


def test_bad_input_is_one_sentence(subtests):
    for run, contract, problem in [
        ({"final_output": 5}, PRICE, r"invalid: agent_run\.final_output"),
        ("a", {"mustcall": ["a"]}, "mustcall: no field has this name; write 'must_call'"),
        (None, None, "a run is given as a NoneType; give a text, messages, an agent_run, or a state"),
        ({"final_output": object()}, None, "a run is given with values that are not JSON"),
    ]:
        raised = pytest.raises((AssertionError, ContractError, TypeError), match=problem)
        with subtests.test(run=run), raised:
            assert_evaluation(run, contract=contract)


def test_a_criterion_is_checked_only_if_it_repeats_the_objective(subtests):
    for criterion, is_checked in [("polite", False), ("correctness", True)]:
        with subtests.test(criterion=criterion):
            reply = json.dumps({"criteria": {criterion: 5}, "rationale": "good", "score": 5})
            contract = {**PRICE, "subjective_criteria": [criterion]}
            unmet = nullcontext() if is_checked else pytest.raises(AssertionError, match="rests on less")

            with unmet:
                judge = RubricJudge(ScriptedChatModel([reply]))
                assert_evaluation(RUN, contract=contract, judge=judge, require="checked")


RULES = {"feedback": FeedbackRule, "resample": ResampleRule}


def step(failures, passes=True, strategy="feedback", kind="content"):
    cost = {**usage(10), "cost_usd": 0.5}
    options = {name: field.default for name, field in RULES[strategy].model_fields.items() if name != "use"}
    failed = [
        followed_by(judged(kinds=[kind], attempt=number, usage=cost), strategy, **options)
        for number in range(1, failures + 1)
    ]
    last = [judged("validated", (), attempt=failures + 1, usage=cost)] if passes else []
    return [*failed, *last]


def counts(steps, planned=0, **policy):
    result = replay_policy("p", RetryPolicy(**policy), [(steps, planned)])
    return result.succeeded, result.failed, result.not_recorded


CASES = [
    ([step(0)], {"max_retries": 0}, (1, 0, 0)),
    ([step(1)], {"max_retries": 0}, (0, 1, 0)),
    ([step(1)], {"max_retries": 1}, (1, 0, 0)),
    ([step(1)], {"max_retries": 5}, (1, 0, 0)),
    ([step(3, passes=False)], {"max_retries": 2}, (0, 1, 0)),
    ([step(3, passes=False)], {"max_retries": 3}, (0, 0, 1)),
    ([step(1)], {"strategies": [{"use": "resample"}]}, (0, 0, 1)),
    ([step(1, strategy="resample")], {"strategies": [{"use": "resample"}]}, (1, 0, 0)),
    ([step(1, kind="format")], {"strategies": [{"use": "feedback", "after": "format"}]}, (1, 0, 0)),
    ([step(1)], {"strategies": [{"use": "feedback", "after": "format"}]}, (0, 1, 0)),
    ([step(1)], {"strategies": [{"use": "feedback", "temperature": 1.0}]}, (0, 0, 1)),
    ([step(0), step(1)], {"max_retries": 0}, (0, 1, 0)),
    ([step(1, passes=False)], {"max_retries": 0, "max_replans": 1}, (0, 0, 1)),
]


def test_a_run_is_known_as_far_as_its_attempts_were_recorded(subtests):
    for steps, policy, expected in CASES:
        with subtests.test(steps=steps, policy=policy):
            assert counts(steps, **policy) == expected


def test_costs_are_those_of_the_attempts_of_the_policy_and_what_is_not_recorded_widens_the_bounds():
    runs = [([step(1)], 0), ([step(2)], 0), ([step(0)], 0)]
    result = replay_policy("one", RetryPolicy(max_retries=1), runs)
    unknown = replay_policy("p", RetryPolicy(), [([step(0)], 0), ([step(1, passes=False)], 0)])

    assert (result.attempts, result.tokens, result.cost_usd, result.seconds) == (5, 50, 2.5, 5.0)
    assert (result.runs, result.bounds, unknown.bounds) == (3, (2 / 3, 2 / 3), (0.5, 1.0))


def test_nothing_to_replay_is_refused():
    with pytest.raises(ConfigurationError, match="give at least one run and one policy"):
        replay([], {"a": RetryPolicy()})


def test_stored_runs_are_replayed(tmp_path):
    yes, no = '{"success": true, "feedback": "good"}', '{"success": false, "feedback": "no"}'
    model = ScriptedChatModel(['{"plan": ["Say hello"]}', "Hm", no, "Hello", yes], usage=(20, 5))
    with open_store(tmp_path / "runs.sqlite") as store:
        state = LangGraphOrchestrator.from_model(model, contract=None, checkpointer=store).run("Greet")
        states = [store.history.show(run.thread_id).state for run in store.history.runs()]
    policies = {str(n): RetryPolicy(max_retries=n) for n in (0, 1, 2)}

    results = replay(states, policies)
    assert [(each.succeeded, each.failed) for each in results] == [(0, 1), (1, 0), (1, 0)]
    assert results == replay([state], policies)


def test_a_state_with_a_gap_is_refused(subtests):
    state = run_orchestrator()
    for changes, missing in [({"attempt": 2}, "atlas.* lacks an attempt"), ({"step_index": 1}, "a step")]:
        with subtests.test(changes=changes):
            cut = {**state, "results": [{**state["results"][0], **changes}]}

            with pytest.raises(ConfigurationError, match=missing):
                replay([cut], {"p": RetryPolicy()})


# A recorded run has one verdict, from Python and from the command


PEERS = Path(__file__).parents[2] / "data" / "peers"
FILES = [
    "claude-code/one-call.jsonl", "inspect/one-call.json", "atif/cline.json", "otel/genai-openai.json",
    "swe-agent/text-commands.traj",
]  # fmt: skip


def test_a_file_has_the_verdicts_of_the_command_in_python(subtests):
    for name in FILES:
        with subtests.test(file=name):
            of_command = [each.report for each in RecordedEvaluation(None).evaluate(read_runs(PEERS / name))]

            reports = evaluate_many(read_cases(PEERS / name))

            assert [report.model_dump(mode="json") for report in reports] == of_command
