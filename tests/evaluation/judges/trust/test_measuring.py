import pytest

from agents import ModelUnavailableError, MonitoringAgent
from agents.models.server_errors import TransportRetry
from agents.testing import ScriptedChatModel
from evaluation import LabelledOutput, Rubric, RubricJudge, measure_judge
from evaluation.errors import ContractError
from evaluation.judges.figures import load_labelled_set
from evaluation.judges.measuring import judge_output

OUTPUTS = load_labelled_set()
RIGHT = next(output for output in OUTPUTS if output.kind == "right")


class NamedModel(ScriptedChatModel):
    model_name: str = "scripted-1"


def monitor(*replies, **options):
    return MonitoringAgent(NamedModel(replies), **options)


def test_a_monitor_is_asked_as_a_run_asks_it(subtests):
    for replies, verdict in [
        (['{"success": true, "feedback": "It is complete."}'], "accepted"),
        (['{"success": false, "feedback": "It lacks the date."}'], "refused"),
        (["It seems fine."], "needs_review"),
        (['Fine: {"success": true, "feedback": "ok"}'] * 2, "needs_review"),  # as in a run: an object alone
        (['Fine: {"success": true, "feedback": "ok"}', '{"success": true, "feedback": "ok"}'], "accepted"),
    ]:
        with subtests.test(replies=replies):
            assert judge_output(monitor(*replies), RIGHT) == verdict


def test_another_judge_accepts_with_the_pass_score(subtests):
    for answer, verdict in [
        ({"score": 4, "rationale": "Complete."}, "accepted"),
        ({"score": 3.9, "rationale": "Nearly."}, "refused"),
        ({"score": 5}, "needs_review"),
        ({"score": 5, "rationale": "Good.", "verdict": "fail"}, "needs_review"),
        ("accepted", "needs_review"),
    ]:
        with subtests.test(answer=answer):
            assert judge_output(lambda request, answer=answer: answer, RIGHT) == verdict


def test_every_output_is_asked_about_once_without_its_label():
    asked = []

    def judge(request):
        asked.append(request)
        return {"score": 1, "rationale": "No."}

    trust = measure_judge(judge, name="a judge")

    assert [(request.input, request.output) for request in asked] == [
        (output.task, output.output) for output in OUTPUTS
    ]
    assert (trust.name, trust.total) == ("a judge", len(OUTPUTS))
    assert trust.false_rejects.value == 1.0


def test_a_monitor_whose_server_fails_has_no_figures():
    failing = monitor(ConnectionError("gone"), transport_retry=TransportRetry(max_attempts=1))

    with pytest.raises(ModelUnavailableError):
        measure_judge(failing)


def test_a_judge_without_a_name_is_refused():
    with pytest.raises(ContractError, match="give name="):
        measure_judge(lambda request: None, outputs=[])
    with pytest.raises(ContractError, match="give name="):
        measure_judge(MonitoringAgent(ScriptedChatModel([])), outputs=[])


def test_the_name_of_a_judge_changes_with_what_changes_its_verdicts():
    llm, other = NamedModel([]), NamedModel([])
    other.model_name = "scripted-2"
    monitors = monitor(), monitor(system_prompt="Approve all."), MonitoringAgent(other)
    judges = *monitors, RubricJudge(llm), RubricJudge(llm, instructions="Be strict.")

    assert monitor().identity == monitor().identity
    assert len({judge.identity for judge in judges}) == 5
    assert RubricJudge(ScriptedChatModel([])).identity is None


def test_outputs_of_the_user_are_scored_by_a_rubric_of_the_user():
    rubric = Rubric.model_validate({"criteria": ["tone"], "scale": {"min": 0, "max": 1}, "pass_score": 1})
    kinds = {"kind": "right", "curt": "plain", "rude": "plain"}
    outputs = [LabelledOutput(task="Greet", output=text, kind=label) for text, label in kinds.items()]

    trust = measure_judge(
        lambda request: {"score": float(request.output != "curt"), "rationale": request.rubric.name},
        name="mine",
        outputs=outputs,
        rubric=rubric,
    )

    assert (trust.false_accepts.successes, trust.false_accepts.trials, trust.false_rejects.value) == (1, 2, 0)
