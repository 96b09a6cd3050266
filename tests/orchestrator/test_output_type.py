from __future__ import annotations

import json

import pytest
from pydantic import BaseModel, Field, RootModel, computed_field, field_validator

from evaluation import EvaluationContract
from orchestrator import ConfigurationError
from tests.fakes.executor import FakeExecutor, SynthesizingExecutor
from tests.fakes.runs import build, statuses


class Choice(BaseModel):
    """A chosen database."""

    name: str
    price: float = Field(gt=0)

    @field_validator("name")
    @classmethod
    def _refuse_placeholder(cls, name: str) -> str:
        if name == "string":
            raise ValueError("write the name of a database")
        return name


GOOD = '{"name": "PostgreSQL", "price": 1.5}'


class SchemaExecutor(FakeExecutor):
    def __init__(self, *answers):
        super().__init__(*answers)
        self.schemas = []

    def execute_step(self, step_description, context="", task="", schema=None):
        self.schemas.append(schema)
        return super().execute_step(step_description, context, task)


def write_choice(*written):
    """A run whose answer is written as these texts, one after the other, and its executor."""
    executor = SynthesizingExecutor(written=written)
    return build(executor, output_type=Choice).run("choose"), executor


def run_as(output_type, *texts, **options):
    """A run of one step whose output is one text after the other."""
    return build(FakeExecutor(*texts), plan=["one"], output_type=output_type, **options).run("choose")


def test_an_output_of_another_type_is_written_again_with_the_validation_error(subtests):
    for text, told in [
        ("PostgreSQL", "Invalid JSON"),
        ('{"name": "PostgreSQL"}', "price: Field required"),
        ('{"name": "PostgreSQL", "price": 0}', "price: Input should be greater than 0"),
        ('{"name": "string", "price": 1}', "name: Value error, write the name of a database"),
    ]:
        with subtests.test(text=text):
            state, executor = write_choice(text, GOOD)

            assert statuses(state, "synthesis") == ["failed", "validated"]
            assert told in executor.requests[1][1]


LENIENT = {
    "a comma too many": f"{GOOD[:-1]},}}",
    "a sentence before": f"Sure, here is the object: {GOOD}",
    "single quotes": GOOD.replace('"', "'"),
    "Python's names and a footnote": f"As in [1]: {GOOD[:-1]}, 'cached': False}}".replace('"', "'"),
    "fields of its own": f'{GOOD[:-1]}, "note": "cheap", "n": 1}}',
}


def test_an_output_that_is_nearly_json_is_read_as_a_plan_is(subtests):
    for label, text in LENIENT.items():
        with subtests.test(label):
            assert write_choice(text)[0]["output"] == '{"name":"PostgreSQL","price":1.5}'


BESIDE = {
    "a sentence after it": f"{GOOD} I hope that it helps.",
    "braces in the prose": f"For {{name}}:\n```json\n{GOOD}\n```",
    "a regret": f"I should not have chosen this: {GOOD}",
    "a doubt": f"{GOOD}\nWait, the price is of last year.",
    "a refusal": f"{GOOD}\nThis was refused by the check.",
    "another language": f"{GOOD}\nDas nehme ich zurück.",
    "a field that says so": f'{GOOD[:-1]}, "is_guess": true}}',
    "a field that denies": f'{GOOD[:-1]}, "error": "no price was found"}}',
}


def test_words_beside_an_output_are_asked_about_once(subtests):
    for label, text in BESIDE.items():
        for second, output in [(text, "PostgreSQL"), (GOOD.replace("Postgre", "My"), "MySQL")]:
            with subtests.test(label, second=second):
                state, executor = write_choice(text, second)
                assert "has to stand alone" in executor.requests[1][1]
                assert statuses(state, "synthesis") == ["failed", "validated"]
                assert Choice.model_validate_json(state["output"]).name == output


def test_words_beside_an_output_are_asked_about_also_after_another_fault():
    state = run_as(Choice, "none", f"No longer valid: {GOOD}", GOOD)

    assert statuses(state) == ["failed", "failed", "validated"]


def test_an_output_that_is_a_draft_is_refused_each_time(subtests):
    for text in [f"Draft: {GOOD}", f"{GOOD}\nThis is only a draft.", f"Entwurf:\n```json\n{GOOD}\n```"]:
        with subtests.test(text=text):
            state = run_as(Choice, *[text] * 3)
            assert (state["status"], state["failure"]["kind"]) == ("failed", "attempts_exhausted")


GUESSES = {
    "JSON without its end": '{"name": "PostgreSQL", "price": 1.5',
    "two objects": f"{GOOD} or {GOOD.replace('1.5', '2.5')}",
    "an object and a fenced one": f"{GOOD}\n```json\n{GOOD.replace('1.5', '2.5')}\n```",
    "an object and a list of one": f"{GOOD}\n[{GOOD.replace('1.5', '2.5')}]",
    "a key twice": GOOD.replace('"price"', '"name": "Oracle", "price"'),
    "a key twice in another spelling": "{'name': 'PostgreSQL', name: 'Oracle', 'price': 1.5}",
    "a key twice in prose": "Here: " + GOOD.replace('"price"', '"price": 2, "price"'),
    "an ellipsis": GOOD[:-1] + ", ...}",
    "an ellipsis in a comment": GOOD.replace(', "price"', ', // ...\n "price"'),
    "a text without quotes": "{name: PostgreSQL, price: 1.5}",
    "quotes in a text": GOOD.replace("PostgreSQL", 'Postgre"S"QL'),
}


def test_an_output_that_would_be_a_guess_is_written_again(subtests):
    for label, text in GUESSES.items():
        with subtests.test(label):
            assert statuses(write_choice(text, GOOD)[0], "synthesis") == ["failed", "validated"]


def test_an_executor_that_takes_a_schema_is_given_it_and_the_step_stays_as_it_is():
    executor = SchemaExecutor(GOOD)
    build(executor, plan=["one"], output_type=Choice).run("choose")

    assert (executor.schemas, executor.calls[0].step) == ([Choice.model_json_schema()], "one")


def test_options_that_cannot_hold_are_refused_at_once(subtests):
    for options, message in [
        ({"output_type": dict}, "give a pydantic model"),
        ({"output_type": Choice(name="a", price=1)}, "give a pydantic model"),
        ({"output_type": Choice, "synthesis": False}, "synthesis is False"),
    ]:
        with subtests.test(options=options), pytest.raises(ConfigurationError, match=message):
            build(FakeExecutor(), **options)


class Named(BaseModel):
    """A model whose JSON text differs from what it reads."""

    name: str = Field(alias="fullName")
    note: str = "TODO"


class Computed(BaseModel, extra="forbid"):
    name: str

    @computed_field
    @property
    def size(self) -> int:
        return len(self.name)


def test_checks_hold_for_the_json_that_is_returned_and_not_for_the_text_it_was_read_from(subtests):
    for contract in [
        {"required_content": [{"text": "Paris"}]},
        {"required_content": [{"text": "TODO"}]},
        {"checks": [{"check": "line_count", "min": 3}]},
    ]:
        with subtests.test(contract=contract):
            texts = ['{\n"fullName": "Apple",\n"from": "Paris"\n}'] * 3
            state = run_as(Named, *texts, contract=EvaluationContract(**contract))

            assert (state["status"], state["failure"]["kind"]) == ("failed", "attempts_exhausted")


def test_the_output_of_a_success_can_be_read_as_its_type(subtests):
    for output_type, text in [(Named, '{"fullName": "Apple"}'), (Computed, '{"name": "Apple"}')]:
        with subtests.test(output_type=output_type):
            state = run_as(output_type, text)

            assert output_type.model_validate_json(state["output"]).name == "Apple"


class Refund(BaseModel):
    """A model that fills in values in several ways."""

    status: str = "refunded"
    lines: list[Named] = Field(default_factory=lambda: [Named(fullName="refunded")])
    total: float | None = None


def test_a_value_that_the_type_fills_in_is_not_the_content_that_a_contract_asks_for(subtests):
    contract, fields = EvaluationContract(required_content=[{"text": "refunded"}]), '{"lines": []}'
    commented = '{"lines": [{"fullName": "x"}], "comment": "refunded"}'
    for text in ["{}", '{"total": 3}', f"```json\n{fields}\n```", commented]:
        with subtests.test(text=text):
            state = run_as(Refund, text, contract=contract, max_retries=0)

            assert (state["status"], state["basis"]) == ("failed", None)


class Found(BaseModel):
    """A model whose fields all have defaults."""

    total: int | None = None
    parts: list[Found] = []
    by_name: dict[str, Found] = {}


def test_an_object_with_none_of_the_fields_of_the_type_is_no_output(subtests):
    for text in [
        "{}",
        "I could not find it. {}",
        '{"totl": 5}',
        'I asked with {"query": "x"}.',
        '{"result": {"total": 5}}',
        json.dumps(Found.model_json_schema()),
    ]:
        with subtests.test(text=text):
            assert statuses(run_as(Found, text, '{"total": 5}')) == ["failed", "validated"]


class Counts(RootModel[dict[str, int]]):
    """A model that is a mapping."""


def test_an_output_may_be_empty_where_its_type_is(subtests):
    for output_type, text in [
        (Counts, "{}"),
        (Found, '{"parts": [], "by_name": {}}'),
        (Found, '{"parts": [{}], "note": {}}'),
        (RootModel[list[int]], "```json\n[1, 2]\n```"),
        (RootModel[str], '"use {x}"'),
    ]:
        with subtests.test(text=text):
            assert run_as(output_type, text)["status"] == "success"


class Raising(BaseModel):
    """A model whose validator raises an error of its own."""

    name: str

    @field_validator("name")
    @classmethod
    def _look_up(cls, name: str) -> str:
        raise LookupError(f"no database of {name}")


def test_a_validator_that_raises_refuses_the_output_and_the_run_says_so():
    state = run_as(Raising, '{"name": "x"}', max_retries=0)

    assert (state["status"], state["basis"]) == ("failed", None)
    assert "Raising raised LookupError: no database of x" in state["failure"]["message"]
