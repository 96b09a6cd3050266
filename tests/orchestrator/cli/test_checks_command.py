import json

import pytest

from evaluation import read_case_set

TASK = "Name a fruit. Use at most 2 words."
STEPS = {"task": TASK, "steps": ["a red apple", "apple"]}


def test_the_checks_are_printed_in_plain_words_with_their_quotes(cli):
    shown = cli("checks", TASK)

    line = "checked: use at most 2 words (“at most 2 words”) [word_count]\n"
    assert (shown.exit_code, shown.stdout) == (0, line)


def test_it_says_how_to_state_the_content(cli, tmp_path, ask):
    file = tmp_path / "case.yaml"
    shown = cli("checks", TASK, "--save", str(file))
    assert shown.stderr.splitlines()[1].startswith("Nothing says what the answer has to be: ")
    [line] = [line for line in shown.stderr.splitlines() if line.startswith("  ")]
    text = file.read_text().replace("contract:\n", f"contract:\n{line.replace('...', 'apple')}\n")
    file.write_text(text)
    state = json.loads(ask("--contract", str(file), "--json", **STEPS).stdout)

    assert (state["basis"], state["evidence"]["content"]) == ("checked", "code")


@pytest.mark.parametrize(
    "task",
    ["Write about bees. Use three metaphors.", "Write exactly 3 sentences. Write exactly 5 sentences."],
)
def test_requirements_that_are_not_checked_stand_below_a_line_that_says_so(cli, task):
    first, second, *_ = cli("checks", task).stdout.splitlines()

    assert first == "Nothing of the task is checked by a program; a success would rest on the judge alone."
    assert second.startswith("not checked: ")


def test_a_saved_contract_can_be_edited_and_passed_back(cli, ask, tmp_path):
    file = tmp_path / "contract.yaml"
    saved = cli("checks", TASK, "--save", str(file))
    text = file.read_text().replace("max: 2", "max: 3")
    file.write_text(text.replace("contract:", "contract:\n  complete: true"))
    done = ask("--contract", str(file), "--json", **STEPS)
    state = json.loads(done.stdout)

    assert (saved.exit_code, done.exit_code) == (0, 0)
    assert saved.stderr.startswith(f"saved in {file}; `orchestrator run TASK --contract {file}` uses it\n")
    assert read_case_set(file).cases[0].task == TASK
    assert (state["output"], state["basis"]) == ("a red apple", "checked")
