"""The grammar of a step's output, for a model whose server reads grammars."""

from __future__ import annotations

from langchain_core.messages import AIMessage
from pydantic import BaseModel

from agents import ExecutionAgent
from agents.testing import ScriptedChatModel
from evaluation import CommandCheck, EvaluationContract
from orchestrator import LangGraphOrchestrator, RetryPolicy
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner

LOWER = {"check": "letter_case", "style": "lower"}
WORDS = {"check": "excludes", "texts": ["red"]}


class Colour(BaseModel):
    name: str


def read_grammars(outputs):
    """A model whose server reads grammars."""
    return ScriptedChatModel(outputs).model_copy(update={"metadata": {"reads_grammars": True}})


def run(outputs, *checks, plan=("write",), task="Write about a boat.", **options):
    """Run a plan, and return the grammars of the executor's calls."""
    model = read_grammars(outputs)
    contract = EvaluationContract(checks=[*checks]) if checks else None
    options = {"contract": contract, **options}
    orchestrator = LangGraphOrchestrator(
        FakePlanner(list(plan)), ExecutionAgent(model), FakeMonitor(), **options
    )
    state = orchestrator.run(task)
    assert state["status"] == "success", state["error"]
    return model.grammars


def test_every_attempt_has_the_grammar_of_the_checks():
    first, second = run(["Red", "blue"], LOWER, WORDS)
    assert first == second
    assert first.startswith("root ::= ")


def test_checks_of_the_content_have_no_grammar():
    assert run(["red", "blue"], WORDS) == [None, None]


def test_a_reply_to_a_draft_has_no_grammar():
    _, second = run(["Red", "blue"], LOWER, retry_policy=RetryPolicy(strategies=[{"use": "repair"}]))
    assert second is None


def test_an_output_with_a_type_has_no_grammar():
    assert run(['{"name": "blue"}'], LOWER, output_type=Colour) == [None]


def test_the_checks_of_the_task_are_in_the_grammar_of_the_last_answer():
    task = "Name a colour and a boat. Use only lowercase letters."
    plan = ("name a colour", "name a boat")
    *steps, answer = run(["Blue", "Titanic", "a blue boat"], plan=plan, task=task, contract="from_task")
    assert steps == [None, None]
    assert "a-z" in answer
    assert "A-Z" not in answer


def test_after_a_reply_that_was_cut_off_the_next_one_has_half_of_its_lines():
    cut_off = AIMessage("a\nb\nc\nd\n\ne\nf", response_metadata={"finish_reason": "length"})
    first, second = run([cut_off, "blue"], WORDS)
    assert first is None
    assert second.startswith("root ::= line more{0,3}\n")


def test_a_text_that_only_the_contract_knows_is_not_in_the_grammar():
    secret = {"check": "starts_with", "text": "Ultramarine"}
    policy = RetryPolicy(max_retries=0)
    (grammar,) = run(["Ultramarine it is"], secret, retry_policy=policy)
    assert grammar is None
    (told,) = run(["Ultramarine it is"], secret, task="Start with Ultramarine.", retry_policy=policy)
    assert "Ultramarine" in told


def test_a_policy_that_reveals_all_has_all_texts_in_the_grammar():
    secret = {"check": "starts_with", "text": "Ultramarine"}
    (grammar,) = run(["Ultramarine it is"], secret, retry_policy=RetryPolicy(reveal="all"))
    assert "Ultramarine" in grammar


def test_an_output_that_a_program_reads_has_no_grammar(tmp_path):
    # It may be code, which has another form than a text.
    program = CommandCheck(["true"], tmp_path)
    assert run(["blue"], LOWER, plan=("write",), checks=[program]) == [None]
