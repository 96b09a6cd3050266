"""Checks of a run, and runs that were recorded elsewhere."""

import json

import pytest
from langchain_core.messages import AIMessage

from agents.testing import ScriptedChatModel
from evaluation import read_case_set, run_from_state
from orchestrator import LangGraphOrchestrator
from orchestrator.persistence import open_store
from tests.fakes.chat_server import plan, verdict
from tests.fakes.runs import price_of

TASK = "Name a fruit. Use at most 2 words."
STEPS = {"plans": [plan("name it")], "steps": ["a red apple", "apple"], "verdicts": [verdict(True, "good")]}


@pytest.fixture
def ask(cli, chat):
    """Run a task against a scripted endpoint: `ask("--json", steps=[...])`."""

    def run(*options, task=TASK, **script):
        served = chat(**{**STEPS, **script})
        return cli("run", task, "--model", "openai:scripted", *options, env=served.environment)

    return run


def test_the_checks_are_printed_in_plain_words_with_their_quotes(cli):
    shown = cli("checks", TASK)

    assert (shown.exit_code, shown.stdout) == (
        0,
        "checked: use at most 2 words (“at most 2 words”) [word_count]\n",
    )


def test_it_says_how_to_state_the_content(cli, tmp_path, ask):
    file = tmp_path / "case.yaml"
    shown = cli("checks", TASK, "--save", str(file))
    assert shown.stderr.splitlines()[1].startswith("Nothing says what the answer has to be: ")
    [line] = [line for line in shown.stderr.splitlines() if line.startswith("  ")]
    text = file.read_text().replace("contract:\n", f"contract:\n{line.replace('...', 'apple')}\n")
    file.write_text(text)
    state = json.loads(ask("--contract", str(file), "--json").stdout)

    assert (state["basis"], state["evidence"]["content"]) == ("checked", "code")


@pytest.mark.parametrize(
    "task",
    ["Write about bees. Use three metaphors.", "Write exactly 3 sentences. Write at least 5 sentences."],
)
def test_requirements_that_are_not_checked_stand_below_a_line_that_says_so(cli, task):
    first, second, *_ = cli("checks", task).stdout.splitlines()

    assert first == "Nothing of the task is checked by a program; a success would rest on the judge alone."
    assert second.startswith("not checked: ")


def test_json_has_the_checks(cli):
    shown = json.loads(cli("checks", TASK, "--json").stdout)

    assert shown["checks"] == [
        {"check": "word_count", "quote": "at most 2 words", "max": 2, "wanted": "use at most 2 words"}
    ]
    assert (shown["task"], shown["unchecked"]) == (TASK, [])


def test_a_saved_contract_can_be_edited_and_passed_back(cli, ask, tmp_path):
    file = tmp_path / "contract.yaml"
    saved = cli("checks", TASK, "--save", str(file))
    file.write_text(
        file.read_text().replace("max: 2", "max: 3").replace("contract:", "contract:\n  complete: true")
    )
    done = ask("--contract", str(file), "--json")
    state = json.loads(done.stdout)

    assert (saved.exit_code, done.exit_code) == (0, 0)
    assert saved.stderr.startswith(f"saved in {file}; `orchestrator run TASK --contract {file}` uses it\n")
    assert read_case_set(file).cases[0].task == TASK
    assert (state["output"], state["basis"]) == ("a red apple", "checked")


def test_an_existing_file_is_not_overwritten(cli, tmp_path):
    file = tmp_path / "contract.yaml"
    file.write_text("mine")
    refused = cli("checks", TASK, "--save", str(file))

    assert (refused.exit_code, file.read_text()) == (2, "mine")
    assert "cannot be used (File exists); give another file" in refused.stderr


def test_a_run_shows_the_checks_retries_against_them_and_says_what_the_success_rests_on(ask):
    done = ask()
    lines = [line.partition(" (")[0] for line in done.stderr.splitlines()]

    assert lines[-2] == "Done. Form: 1 check passed. Answer: not verified"
    assert done.stdout == "apple\n"


def test_less_than_required_fails_the_run(ask):
    failed = ask("--require", "checked", task="Name a fruit")

    assert failed.exit_code == 1
    assert "\nfailed: unverified: the output is not accepted, because require is 'checke" in failed.stderr


@pytest.fixture
def recorded(tmp_path, cli):
    """The same run: what `run` returned, the store's, the graph's, and what `show` printed."""
    db = tmp_path / "runs.sqlite"
    lookup = AIMessage("", tool_calls=[{"name": "price_of", "args": {"title": "x"}, "id": "1"}])
    model = ScriptedChatModel(
        ['{"plan": ["Find it", "Say it"]}', lookup, "12.5", "12.5", "12.50 euros"], (3, 4)
    )
    with open_store(db) as store:
        orchestrator = LangGraphOrchestrator.from_model(
            model,
            tools=[price_of],
            contract=None,
            judge=lambda _: {"score": 5, "rationale": "good"},
            checkpointer=store,
        )
        state = orchestrator.run("What does x cost?", "t")
        stored = store.history.show("t").state
        snapshot = orchestrator.graph.get_state({"configurable": {"thread_id": "t"}}).values
    printed = json.loads(cli("show", "t", "--db", str(db), "--json").stdout)
    return {"run": state, "history": stored, "graph": snapshot, "show": printed}


def test_it_is_the_same_run_wherever_it_comes_from(recorded):
    run, *others = [run_from_state(source) for source in recorded.values()]
    named = {**run, "metadata": {**run["metadata"], "thread_id": "t"}}

    assert others == [run, run, named]
    assert [call["name"] for call in run["tool_calls"]] == ["price_of"]
    assert run["total_tokens"] == 35
