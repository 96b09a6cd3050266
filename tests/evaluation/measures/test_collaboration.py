import pytest

from evaluation import evaluate


def action(name="a", agent=None, target=None, kind="tool", args=None, **fields):
    return {"name": name, "agent": agent, "target": target, "kind": kind, "args": args, **fields}


def handoff(agent, target, **fields):
    return action("transfer", agent, target, "handoff", **fields)


def expect(name, agent, target=None, kind=None):
    return {"name": name, "agent": agent, "target": target, "kind": kind}


HANDOFF = expect("transfer", "a", "b", "handoff")
NAMES = ("agent_accuracy", "plan_adherence", "collaboration_confidence", "stuck_runs")


def score_actions(actions, expected=None, plan=(), bounds=None):
    run = {"final_output": "done", "tool_calls": actions, "plan": [*plan]}
    case = {"agent_run": run, "expected_trajectory": expected, "thresholds": bounds or {}}
    group = evaluate(case)["metrics"]["trajectory"]
    checks = [check for check in group["checks"] if check["metric"] in NAMES]
    return {name: group["unscored"].get(name, group.get(name)) for name in NAMES}, checks


def test_one_agent_without_names_is_not_applicable():
    result = score_actions([action(), action("b")])

    assert result[0].pop("stuck_runs") == 0
    assert {reason["status"] for reason in result[0].values()} == {"not_applicable"}
    assert result[1] == []


def test_plan_adherence_is_the_part_of_the_plan_done_in_its_order(subtests):
    for done, share in [("abc", 1.0), ("axbxc", 1.0), ("ac", 2 / 3), ("cba", 1 / 3), ("xyz", 0.0)]:
        with subtests.test(done=done):
            scores, _ = score_actions([action(name) for name in done], plan=["a", "b", "c"])
            assert scores["plan_adherence"] == pytest.approx(share)


def test_missing_identities_lower_the_confidence_and_are_told():
    result = score_actions([action("a", "x"), action("b"), action("c"), action("d", "x")])

    assert result[0]["collaboration_confidence"] == 0.5
    (check,) = result[1]
    assert (check["kind"], check["severity"], check["passed"]) == ("missing_data", "info", None)
    assert "50%" in check["reason"]


def test_the_same_again_and_again_is_an_anomaly():
    result = score_actions([action("search", args={"q": 1})] * 3)

    assert result[0]["stuck_runs"] == 1
    (check,) = result[1]
    assert (check["kind"], check["severity"]) == ("anomaly", "warning")
    assert "search was called 3 times" in check["reason"]


def test_what_differs_is_not_stuck(subtests):
    for actions in [
        [action("a", args={"q": 1}), action("a", args={"q": 2}), action("a", args={"q": 1})],
        [action("a", "x"), action("a", "y"), action("a", "x")],
        [action("a")] * 2,
        [action(args=text) for text in ("one", "two", "three")],
    ]:
        with subtests.test(actions=actions):
            assert score_actions(actions)[0]["stuck_runs"] == 0


def test_a_repetition_that_is_expected_is_not_stuck(subtests):
    for times, stuck in [(2, 0), (3, 0), (4, 1)]:
        with subtests.test(times=times):
            polls = [action("poll")] * times

            assert score_actions(polls, [expect("poll", None)] * 3)[0]["stuck_runs"] == stuck


def test_each_action_is_compared_with_the_agent_that_is_expected():
    failed = [handoff("a", "b", error="refused")]
    actions, expected = [action("x", "a"), action("y", "c")], [expect("x", "a"), expect("y", "b")]
    assert score_actions(actions, expected)[0]["agent_accuracy"] == 0.5
    assert score_actions([handoff("a", "b")], [HANDOFF] * 2)[0]["agent_accuracy"] == 0.5
    assert score_actions(failed, expected=[HANDOFF])[0]["agent_accuracy"] == 0.0


def test_a_threshold_on_collaboration_is_checked():
    wrong = [action("x", "c")], [expect("x", "b")]
    (check,) = score_actions(*wrong, bounds={"agent_accuracy": {"min": 1.0}})[1]
    (missing,) = score_actions([], bounds={"stuck_runs": {"max": 0.0}})[1]
    assert (check["kind"], check["passed"], check["severity"]) == ("collaboration", False, "critical")
    assert (missing["kind"], missing["passed"]) == ("missing_data", None)
