import json
import shutil
from dataclasses import asdict
from pathlib import Path

import pytest

from agents.testing import ScriptedChatModel
from evaluation.cases.case_result import CaseResult, EvaluationEnd, EvaluationHeader, append_results
from evaluation.judges.figures import compute_trust
from orchestrator import LangGraphOrchestrator, RetryPolicy
from orchestrator.persistence import open_store
from orchestrator.study.recorded_trials import describe_results

YES, NO = '{"success": true, "feedback": "good"}', '{"success": false, "feedback": "no"}'
AWAY = {"error": "no server", "metadata": {"failure": "executor_error"}}
CODES = {"R": (True, True), "W": (True, False), "r": (False, True), "w": (False, False)}
FIGURES = {"total_tokens": 100, "latency_ms": 2000.0, "cost_usd": 0.5}


@pytest.fixture
def write_results(tmp_path):
    """Store an evaluation whose cases have these trials: `write_results("Rw", "WW")`; see CODES."""

    def write(*cases, name="results.jsonl", **fields):
        file = tmp_path / name
        with append_results(file, EvaluationHeader()) as (_, append):
            for case, codes in enumerate(cases):
                for trial, code in enumerate(codes):
                    accepted, correct = CODES[code]
                    own = {"name": f"case {case}", "trial": trial, "accepted": accepted, "correct": correct}
                    shared = {"status": "passed", "basis": "checked", "agent_run": FIGURES}
                    append(CaseResult(**{**shared, **own, **fields}))
            append(EvaluationEnd(unread=()))
        return str(file)

    return write


def run_orchestrator(task, *outputs, **options):
    script = [text for output in outputs for text in (output, YES if output == "right" else NO)]
    model = ScriptedChatModel(script, usage=(20, 5))
    return LangGraphOrchestrator.from_model(model, contract=None, planning="never", **options).run(task)


@pytest.fixture
def write_json(tmp_path):
    def write(*values, name="runs.jsonl"):
        file = tmp_path / name
        file.write_text("".join(f"{json.dumps(value)}\n" for value in values))
        return str(file)

    return write


def read_arms(result):
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)["arms"]


def test_results_of_an_evaluation_are_independent_trials(cli, write_results):
    [arm] = read_arms(cli("worth", write_results("Rw", "wR", "WW"), "--loss", "1", "--json"))

    first, second = arm["points"]
    assert (arm["tasks"], arm["trials"], arm["in_sequence"], arm["basis"]) == (3, 6, False, "labels")
    assert [point["right"]["value"] for point in (first, second)] == pytest.approx([1 / 3, 2 / 3])
    assert (second["attempts"], second["tokens"], second["seconds"]) == pytest.approx((4 / 3, 400 / 3, 8 / 3))
    assert second["value"]["value"] == pytest.approx(2 / 3 - 1 / 3 - 0.02 * 4 / 3)


def test_the_recorded_cost_counts_in_place_of_a_stated_one(cli, write_results):
    [arm] = read_arms(cli("worth", write_results("Rw", "RR"), "--cost-usd", "--json"))
    assert arm["points"][0]["value"]["value"] == pytest.approx(0.75 - 0.5)


def test_each_model_of_a_comparison_has_its_own_figures(cli, write_results, tmp_path):
    files = [write_results("RR", "Rw", name=f"{arm}.jsonl", arm=arm) for arm in ("small", "large")]
    assert [arm["arm"] for arm in read_arms(cli("worth", *files, "--json"))] == ["small", "large"]


def test_runs_of_the_orchestrator_are_sequences_and_their_label_is_a_field(cli, write_json):
    states = [run_orchestrator("a", "wrong", "right"), run_orchestrator("b", "wrong", "wrong", "wrong")]
    documents = [{"thread_id": str(n), "state": state, "ok": n == 0} for n, state in enumerate(states)]
    [arm] = read_arms(cli("worth", write_json(*documents), "--truth", "ok", "--json"))

    assert arm["in_sequence"]
    assert [point["right"]["value"] for point in arm["points"]] == [0.0, 0.5, 0.5]
    assert [point["attempts"] for point in arm["points"]] == [1.0, 2.0, 2.5]
    assert [(each["kind"], each["use"]) for each in arm["follow_ups"]] == [("judge", "feedback")]
    [(place, rule)] = arm["rules"]
    assert (place, rule["use"]) == (0, "feedback")


def test_a_store_of_runs_is_read(cli, tmp_path):
    db = tmp_path / "runs.sqlite"
    with open_store(db) as store:
        for task in "ab":
            run_orchestrator(task, "wrong", "right", checkpointer=store)
    [arm] = read_arms(cli("worth", str(db), "--json"))

    assert read_arms(cli("worth", "--db", str(db), "--json")) == [arm]
    assert (arm["tasks"], arm["basis"]) == (2, "nothing")
    assert [point["none"]["value"] for point in arm["points"]] == [1.0, 0.0]


def test_recorded_runs_are_judged_as_evaluate_does(cli, write_json):
    def run(reward, trial):
        words = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
        return {"task_id": 1, "trial": trial, "reward": reward, "traj": words}

    [arm] = read_arms(cli("worth", write_json(run(1.0, 0), run(0.0, 1)), "--truth", "reward", "--json"))
    found = [(point["right"]["value"], point["pass_at_k"]) for point in arm["points"]]
    assert found == [(0.5, 0.5), (0.5, 1.0)]


def test_the_recommendation_is_written_as_a_policy_that_is_read(cli, write_results, tmp_path):
    file = tmp_path / "policy.yaml"
    told = cli("worth", write_results(*["wR"] * 30, *["RR"] * 5), "--policy", str(file))

    assert (told.exit_code, told.stdout.splitlines()[-1][:21]) == (0, "Use up to 2 attempts:")
    policy = RetryPolicy.from_yaml(file)
    assert (policy.max_retries, [rule.use for rule in policy.strategies]) == (1, ["resample"])


def test_the_policy_of_sequences_has_their_rules(cli, write_json, tmp_path):
    policy = RetryPolicy(strategies=[{"use": "resample", "after": "judge", "temperature": 0.3}])
    states = [run_orchestrator(f"{n}", "wrong", "right", retry_policy=policy) for n in range(12)]
    documents = [{"thread_id": "1", "state": state, "ok": 1} for state in states]
    options = ("--truth", "ok", "--loss", "0", "--policy", str(tmp_path / "policy.yaml"))
    told = cli("worth", write_json(*documents), *options)

    assert told.exit_code == 0, told.stderr
    written = RetryPolicy.from_yaml(tmp_path / "policy.yaml")
    assert (written.max_retries, written.strategies) == (1, policy.strategies)


def test_no_policy_is_written_if_nothing_is_told(cli, write_results, tmp_path):
    file = tmp_path / "policy.yaml"
    told = cli("worth", write_results("wR", "wW", "RR"), "--policy", str(file))

    assert told.exit_code == 1
    assert "is not written: Cannot be told" in told.stderr
    assert not file.exists()


def test_a_guarantee_is_printed_with_its_unanswered_share(cli, write_results):
    told = cli("worth", write_results(*["RR"] * 29), "--at-most-wrong", "0.1").stdout
    assert "0 of 29 accepted tasks are wrong, at most 9.8% at 95 % confidence" in told


def judge_file(tmp_path, name="Judge 1 model-a"):
    trust = compute_trust(name, [*[("plain", "refused")] * 90, *[("right", "accepted")] * 90])
    (tmp_path / "judge.json").write_text(json.dumps({**asdict(trust), "total": 180, "trusted": True}))
    return str(tmp_path / "judge.json")


JUDGED = {"judge": {"called": True, "usage": {"model": "model-a-2026"}}}


def test_the_figures_of_the_judge_of_the_runs_stand_for_a_truth(cli, write_results, tmp_path):
    file = write_results("Rw", "RR", correct=None, report=JUDGED)
    [arm] = read_arms(cli("worth", file, "--judge", judge_file(tmp_path), "--json"))

    right = arm["points"][0]["right"]
    assert (arm["basis"], right["value"]) == ("figures of a judge", 0.75)
    assert right["low"] < 0.75


def test_what_cannot_be_used_is_told_in_one_sentence(cli, write_results, write_json, tmp_path, subtests):
    good = write_results("Rw", "RR")
    state = run_orchestrator("a", "wrong", "right")
    failure = {"kind": "executor_error", "message": "", "step_index": 0, "error_type": None}
    stopped = {**state, "status": "failed", "failure": failure}
    gap = {**state, "results": state["results"][1:]}
    run = {"case_id": "a", "agent_run": {"final_output": "Hi", "metadata": {"ok": "maybe"}}}
    other = {**run, "required_content": [{"text": "Hi"}]}
    judged = write_results("RR", correct=None, name="judged.jsonl", report=JUDGED)
    skipped = tmp_path / "skipped.jsonl"
    skipped.write_text(Path(good).read_text().replace('"trial":1', '"trial":2'))
    odd_bound = write_json({**state, "max_retries": "x"}, name="no.json")
    away = write_results("Rw", name="away.jsonl", agent_run=AWAY)
    less = write_results("Rw", name="less.jsonl", agent_run={"total_tokens": -1})
    for arguments, words in [
        ([str(skipped)], "'case 0' lacks a trial between others"),
        (
            [good, "--truth", "reward"],
            "has no truth: its field 'reward' is missing; give true, false, 1 or 0",
        ),
        ([write_json(run, name="maybe.jsonl"), "--truth", "ok"], "its field 'ok' is 'maybe'"),
        ([good, "--judge", judge_file(tmp_path)], "no judge was asked about these runs"),
        ([judged, "--judge", judge_file(tmp_path, "Judge 1 model-b")], "the figures are of another judge"),
        ([good, "--judge", good], "has no figures of a judge; give what"),
        ([write_json(gap, name="gap.json")], "the record of 'a' lacks an attempt"),
        ([odd_bound], "the max_retries of a stored run cannot be read"),
        ([write_json(run, other, name="two.jsonl")], "has trials under different contracts"),
        ([write_json({**run, "agent_run": {}}, name="empty.jsonl")], "'a' is invalid: "),
        ([write_json(stopped, name="stopped.json")], "ended without a verdict (executor_error); resume it"),
        ([away], "whose model did not answer; run it again"),
        ([less], "the tokens of a stored run cannot be read"),
        ([write_json({"odd": 1}, name="odd.jsonl")], "'odd.jsonl' cannot be read: "),
        ([good, good], "again; give them once"),
        ([good, str(shutil.copy(good, tmp_path / "copy.jsonl"))], "has the runs of"),
        ([str(tmp_path / "missing.jsonl")], "No such file"),
        ([], "give the files of recorded runs"),
    ]:
        with subtests.test(words):
            told = cli("worth", *arguments)
            assert words in told.stderr
            assert (told.exit_code, len(told.stderr.strip().splitlines())) == (2, 1)


def test_the_report_of_repeated_cases_with_known_answers_shows_their_worth():
    def result(correct, **fields):
        shared = {"name": "case", "status": "passed", "basis": "checked", "accepted": True}
        return CaseResult(**{**shared, "correct": correct, **fields})

    results = [result(True), result(False, trial=1), result(None, arm="a"), result(True, arm="a", trial=1)]
    [arm] = describe_results([*results, result(True, arm="once")])

    assert (arm["arm"], [point["right"]["value"] for point in arm["points"]]) == ("", [0.5, 0.5])
    assert arm["sentences"][:2] == [
        "tasks: 1, independent trials: 2; right and wrong rest on labels",
        "value: 1 x right - 3 x wrong - 0.02 x attempts",
    ]
