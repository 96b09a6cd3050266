import pytest

from agents import TransportRetry
from orchestrator import ConfigurationError, RetryPolicy
from tests.fakes.monitor import FakeMonitor
from tests.fakes.runs import failure_kind, statuses
from tests.fakes.supervision import FakeSupervisor, SpeakingExecutor, go_on, halt, missed
from tests.orchestrator.supervision.supervised_runs import DONE, build_llm, run_llm, supervision_of

QUICK = RetryPolicy(transport=TransportRetry(max_attempts=2, initial_seconds=0.001))


def test_a_supervisor_sees_the_objective_the_output_the_commitment_the_triggers_and_the_findings():
    supervisor = FakeSupervisor(halt())
    executor = SpeakingExecutor("bad", said=[missed(concerns=["c"])])
    state = run_llm(supervisor, executor, contract=DONE)
    [request] = supervisor.requests

    assert (request["objective"], request["output"]) == ("one", "bad")
    assert request["commitment"]["interpretation"] == "I will one"
    assert request["assessment"]["concerns"] == ["c"]
    assert request["triggers"][1:] == supervision_of(state)["triggers"][1:]
    assert "[not shown]" in request["findings"][0]


class Tampering(FakeSupervisor):
    def reconcile(self, commitment, assessment, findings):
        answer = super().reconcile(commitment, assessment, findings)
        commitment.clear()
        assessment.clear()
        return answer

    def supervise(self, request):
        request["triggers"].clear()
        request["commitment"].clear()
        return go_on()


def test_a_supervisor_cannot_change_the_record():
    state = run_llm(Tampering(), SpeakingExecutor(said=[missed()]))

    assert supervision_of(state)["commitment"]["interpretation"] == "I will one"
    assert supervision_of(state)["assessment"]["met_commitment"] is False
    assert supervision_of(state)["triggers"] == ["commitment_not_met"]


def test_a_supervisor_that_raises_fails_the_step_with_its_cause():
    state = run_llm(FakeSupervisor(ValueError("no key")), SpeakingExecutor(said=[missed()]))

    assert (failure_kind(state), state["failure"]["error_type"]) == ("supervisor_error", "ValueError")
    assert state["failure"]["message"] == "step 1: ValueError: no key"
    assert statuses(state) == ["needs_review"]
    assert state["results"][0]["decision"]["reason"] == "ValueError: no key"


def test_an_error_of_a_server_in_a_phase_is_retried_and_then_escalates_the_step(subtests):
    for phase in ["committed", "said"]:
        with subtests.test(phase=phase):
            supervisor = FakeSupervisor(go_on())
            executor = SpeakingExecutor(**{phase: [ConnectionError("gone")]})
            state = run_llm(supervisor, executor, retry_policy=QUICK)

            assert (state["status"], state["retries"]["transport"]) == ("success", 1)
            assert len(supervisor.requests) == 1


def test_a_phase_that_fails_is_no_statement_and_the_step_escalates_whatever_the_supervisor_finds(subtests):
    commitment = {"readable": False, "confidence": "low"}
    commitment["interpretation"] = "the commitment could not be made: ValueError: no"
    assessment = {"readable": False, "met_commitment": False}
    for phase, name, record in [("committed", "commitment", commitment), ("said", "assessment", assessment)]:
        for reconciled in [None, {"triggers": [], "escalate": False}]:
            with subtests.test(phase=phase, reconciled=reconciled):
                executor = SpeakingExecutor(**{phase: [ValueError("no")]})
                state = run_llm(FakeSupervisor(halt(), reconciled=reconciled), executor)

                assert (failure_kind(state), len(executor.calls)) == ("halted", 1)
                assert record.items() <= supervision_of(state)[name].items()
                assert "ValueError: no" in str(supervision_of(state)[name])


def test_what_is_no_supervisor_is_refused(subtests):
    told = "give a chat model, or an object with reconcile"
    for supervisor in ["gpt", 3, object(), FakeMonitor()]:
        with subtests.test(supervisor=supervisor), pytest.raises(ConfigurationError, match=told):
            build_llm(supervisor)
