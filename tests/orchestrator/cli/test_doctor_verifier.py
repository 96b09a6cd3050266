"""`orchestrator doctor --verifier` measures claims on tasks with known answers; a run then makes them."""

import json

import pytest

SPEC = "openai:model-1"
TASKS = [f"What is {number} + 1? Answer with the number only." for number in range(50)]


@pytest.fixture
def tasks(tmp_path):
    """Write a file of the tasks with their answers: `tasks(50)`."""

    def write(size: int) -> str:
        cases = [
            {"task": task, "contract": {"keywords": [str(number + 1)]}}
            for number, task in enumerate(TASKS[:size])
        ]
        file = tmp_path / "tasks.json"
        file.write_text(json.dumps({"version": 1, "cases": cases}))
        return str(file)

    return write


def sums(wrong: int = 0):
    """The replies to the tasks, with five more of each: right ones after some that are wrong."""
    return [str(number + 1 + (number < wrong)) for number in range(50) for _ in range(6)]


def reason(state):
    return state["results"][-1]["basis_reason"]


@pytest.mark.soak
def test_a_measured_verifier_makes_claims_of_answers_that_agree(cli, served, tasks):
    served(steps=[*sums(), "8", "8", "8", "8", "8", "8", "8", "8", "9", "8", "8", "8"])

    measured = cli("doctor", "--verifier", "agreement", "--tasks", tasks(50), "--model", SPEC, "--json")

    document = json.loads(measured.stdout)
    assert (measured.exit_code, document["threshold"]) == (0, 1.0)
    assert (document["precision"]["successes"], document["coverage"]["successes"]) == (50, 50)

    run = ("run", "What is 7 + 1?", "--model", SPEC, "--planning", "auto", "--verifier", "agreement")
    agreed = json.loads(cli(*run, "--json").stdout)
    doubted = json.loads(cli(*run, "--json").stdout)
    assert (agreed["output"], agreed["basis"], agreed["evidence"]["content"]) == ("8", "judged", "judge")
    assert reason(agreed) == (
        "Answer: 5 of 5 further answers of the model agree; at most 5% wrong, measured on 50 tasks."
    )
    assert (doubted["output"], doubted["status"], doubted["basis"]) == ("8", "success", "unverified")
    assert "4 of 5 further answers of the model agree; 5 are needed" in reason(doubted)


@pytest.mark.soak
def test_a_verifier_whose_claims_are_wrong_too_often_claims_nothing(cli, served, tasks):
    served(steps=[*sums(wrong=10), "8"])

    measured = cli("doctor", "--verifier", "agreement", "--tasks", tasks(50), "--model", SPEC)

    assert measured.exit_code == 1
    assert "100% approve: 50 answers, 40 right" in measured.stdout
    assert "Not shown: that at most 5% of its claims are wrong." in measured.stdout
    asked = ("run", "What is 7 + 1?", "--model", SPEC, "--planning", "auto", "--verifier", "agreement")
    assert json.loads(cli(*asked, "--json").stdout)["basis"] == "unverified"


def test_the_verdict_of_the_monitor_is_a_verifier_without_further_calls(cli, served, tasks):
    server = served(steps=[str(number + 1) for number in range(50)])

    measured = cli("doctor", "--verifier", "judge", "--tasks", tasks(50), "--model", SPEC, "--json")

    assert (measured.exit_code, len(server.asked)) == (0, 100)
    run = ("run", "What is 49 + 1?", "--model", SPEC, "--planning", "auto", "--verifier", "judge", "--json")
    assert json.loads(cli(*run).stdout)["basis"] == "judged"


def test_a_verifier_that_was_not_measured_claims_nothing_and_says_how_to_measure_it(cli, served):
    served(steps=["8"])

    run = cli(
        "run", "What is 7 + 1?", "--model", SPEC, "--planning", "auto", "--verifier", "agreement", "--json"
    )

    state = json.loads(run.stdout)
    assert state["basis"] == "unverified"
    assert "`orchestrator doctor --verifier agreement --tasks FILE`" in reason(state)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--verifier", "agreement", "--tasks", "no.json"], "tasks: 'no.json' cannot be read"),
        (
            ["--verifier", "agreement", "--tasks", "FEW"],
            "needs 45 claims, all of them right; give at least 5",
        ),
        (["--verifier", "vote", "--tasks", "FEW"], "'vote'"),
    ],
)
def test_bad_input_costs_no_call(cli, served, tasks, options, message):
    server = served()
    given = [tasks(40) if option == "FEW" else option for option in options]

    asked = cli("doctor", *given, "--model", SPEC)

    assert (asked.exit_code, server.asked) == (2, [])
    assert message in asked.stderr


def test_tasks_without_a_known_answer_are_named(cli, served, tmp_path):
    server = served()
    file = tmp_path / "tasks.yaml"
    file.write_text("version: 1\ncases:\n- task: Write a poem. Use at most 20 words.\n")

    asked = cli("doctor", "--verifier", "judge", "--tasks", str(file), "--model", SPEC)

    assert (asked.exit_code, server.asked) == (2, [])
    assert "1 of 1 tasks have no known answer: 'Write a poem. Use at most 20 words.'" in asked.stderr


def test_agreement_is_refused_if_further_answers_would_use_tools_again(cli, served, tmp_path, monkeypatch):
    (tmp_path / "shop.py").write_text("def refund(order: int) -> str:\n    'Refunds.'\n    return 'ok'\n")
    monkeypatch.chdir(tmp_path)
    served()

    run = cli("run", "Refund order 1.", "--model", SPEC, "--tools", "shop:refund", "--verifier", "agreement")

    assert run.exit_code == 2
    assert "verifier is 'agreement', which asks the executor again, and the executor has tools" in run.stderr
