import re
from collections import Counter
from pathlib import Path

import pytest

from evaluation import EvaluationContract, JudgeTrust, TaskCase, save_trust
from evaluation.checks import read_checks
from evaluation.judges.figures import VerdictCounts, load_labelled_set
from orchestrator import ConfigurationError, RetryPolicy
from orchestrator.persistence import open_store
from tests.fakes.executor import FakeExecutor, SynthesizingExecutor
from tests.fakes.interruption import interrupt_run
from tests.fakes.monitor import FakeMonitor
from tests.fakes.runs import build

TASK = "Name a fruit in at most 2 words, and sign it with love"
SHORT = {"check": "word_count", "max": 2, "quote": "at most 2 words"}


def orchestrate(executor=None, monitor=None, plan=("name it",), **options):
    return build(executor, monitor, plan, **{"contract": "from_task", **options})


def results(state, name="results"):
    return [(record["result"], record["status"], record["basis"]) for record in state[name]]


def test_the_failure_quotes_the_words_of_a_derived_check_and_says_how_to_change_it():
    state = orchestrate(FakeExecutor(*["a red apple"] * 3)).run("Name a fruit in at most 2 words")

    assert state["failure"]["message"].endswith(
        "; the check word_count rests on “at most 2 words”; "
        "`orchestrator checks TASK --save FILE` writes the checks to change"
    )


def test_each_step_has_the_checks_of_its_own_text_and_the_answer_those_of_the_task():
    plan = ["name three fruits", "choose one in at most 3 words"]
    executor = SynthesizingExecutor("apple, pear and plum", "a plum", written=("it is a plum", "plum"))
    state = orchestrate(executor, plan=plan).run("Name a fruit in at most 2 words")

    of_steps = [("apple, pear and plum", "validated", "unverified"), ("a plum", "validated", "unverified")]
    written = [("it is a plum", "failed", "unverified"), ("plum", "validated", "unverified")]
    assert (results(state), results(state, "synthesis")) == (of_steps, written)
    assert state["basis"] == "unverified"


def test_resume_uses_the_stored_contract_although_the_code_has_changed(tmp_path):
    with open_store(tmp_path / "runs.sqlite") as store:
        task = "Name it in at most 2 words"
        interrupt_run(lambda executor: orchestrate(executor, checkpointer=store.saver), task, "t")
        executor = FakeExecutor("a red apple", "apple")
        changed = orchestrate(executor, contract=None, checkpointer=store.saver)
        state = changed.resume("t")

    assert results(state) == [("a red apple", "failed", "unverified"), ("apple", "validated", "unverified")]


def test_a_case_states_the_contract_of_its_task():
    contract = EvaluationContract(checks=read_checks([SHORT]), complete=True)
    case = TaskCase(task=TASK, contract=contract, unchecked=[])
    state = orchestrate(FakeExecutor("a red apple", "apple"), contract=case).run(TASK)

    assert results(state) == [("a red apple", "failed", "unverified"), ("apple", "validated", "checked")]
    assert state["declared"]["derived"]["output"]["contract"] == {"checks": [SHORT], "complete": True}


def test_the_contract_of_another_task_ends_the_run_before_a_step():
    executor = FakeExecutor()
    state = orchestrate(executor, contract=TaskCase(task="Name a tree")).run(TASK)

    assert (state["failure"]["kind"], executor.calls) == ("contract_error", [])
    assert "another task ('Name a tree')" in state["failure"]["message"]


def test_bad_options_are_refused(subtests):
    for options, sentence in [
        ({"contract": "from_tsk"}, "contract is 'from_tsk'; give an EvaluationContract"),
        ({"contract": Path("checks.yaml")}, "a TaskCase such as read_case_set(file).cases[0]"),
        ({"require": "proved"}, "require is 'proved'; give 'checked', 'judged' or 'approved'"),
    ]:
        with subtests.test(options=options), pytest.raises(ConfigurationError, match=re.escape(sentence)):
            orchestrate(**options)


def test_a_run_whose_output_rests_on_less_than_required_fails(subtests):
    for task, required, status in [
        ("Name a fruit in at most 2 words", "checked", "failed"),
        (TASK, "checked", "failed"),
        ("Name a fruit", None, "success"),
    ]:
        with subtests.test(task=task):
            state = orchestrate(FakeExecutor("apple"), require=required).run(task)

            assert state["status"] == status
            assert (state["failure"] or {}).get("kind") == (None if status == "success" else "unverified")
            assert (state["output"] is None) == (status == "failed")


@pytest.mark.parametrize("required", ["checked", "judged"])
def test_a_persons_approval_satisfies_both(tmp_path, required):
    policy = RetryPolicy(strategies=[{"use": "feedback"}, {"use": "ask_human", "after": "unverified"}])
    with open_store(tmp_path / "runs.sqlite") as store:
        options = {"retry_policy": policy, "require": required, "checkpointer": store.saver}
        orchestrator = orchestrate(FakeExecutor("apple"), FakeMonitor({"no": "verdict"}), **options)
        orchestrator.run(TASK, "t")
        state = orchestrator.resume("t", {"answer": "approve", "answered_by": "ada"})

    assert (state["status"], state["basis"]) == ("success", "approved")
    assert state["results"][0]["basis_reason"] == "Answer: approved by ada."


class Measured(FakeMonitor):
    identity = "a measured monitor"


@pytest.fixture
def store_figures(tmp_path, monkeypatch):
    """Store the figures of `Measured`: `store_figures(accepted=1)` of 60 wrong outputs."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))

    def save(accepted):
        sizes = Counter(each.kind for each in load_labelled_set())
        wrong = {kind: VerdictCounts(accepted=0, refused=size) for kind, size in sizes.items()}
        counts = {**wrong, "right": VerdictCounts(accepted=sizes["right"])}
        subtle = VerdictCounts(accepted=accepted, refused=sizes["subtle"] - accepted)
        save_trust(JudgeTrust(Measured.identity, {**counts, "subtle": subtle}))

    return save


def test_the_word_of_a_trusted_judge_is_a_basis_and_that_of_another_none(store_figures, subtests):
    for accepted, failure, basis in [(0, None, "judged"), (20, "unverified", "unverified")]:
        with subtests.test(accepted=accepted):
            store_figures(accepted)
            state = orchestrate(FakeExecutor("apple"), Measured(), require="judged").run(TASK)

            assert ((state["failure"] or {}).get("kind"), state["basis"]) == (failure, basis)


def test_checks_that_only_the_plan_states_prove_nothing(subtests):
    for contract in ["from_task", None]:
        with subtests.test(contract=contract):
            executor = FakeExecutor(*["apple"] * 2)
            options = {"contract": contract, "require": "checked", "synthesis": False}
            state = orchestrate(executor, plan=["think", "name it in at most 2 words"], **options).run("Name")

            assert (state["status"], state["output"]) == ("failed", None)
            assert (state["failure"]["kind"], state["basis"]) == ("unverified", "unverified")


DESCRIBED = {"name": "correctness", "description": "cites three sources"}


def test_what_only_a_judge_scored_is_unchecked_whatever_its_criterion_is_called(subtests):
    for fields, basis in [
        ({"subjective_criteria": ["politeness"]}, "unverified"),
        ({"rubric": {"criteria": ["correctness"]}}, "checked"),
        ({"rubric": {"criteria": [DESCRIBED]}}, "unverified"),
        ({"rubric": {"criteria": ["correctness"], "instructions": "Cite three sources"}}, "unverified"),
    ]:
        with subtests.test(fields=fields):
            contract = EvaluationContract(keywords=["apple"], **fields)
            state = orchestrate(FakeExecutor("apple"), contract=contract).run("Name a fruit")

            assert (state["status"], state["basis"]) == ("success", basis)
