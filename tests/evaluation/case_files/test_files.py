import json
import re

import jsonschema_rs
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from evaluation import ContractError, EvaluationContract, TaskCase, read_case_set, write_case_set
from evaluation.cases.case_files import MAX_BYTES, CaseSet, SingleCase, format_yaml, parse_yaml

SCHEMA = jsonschema_rs.validator_for(TypeAdapter(CaseSet | SingleCase).json_schema())
ONE = """\
version: 1
task: Greet the world in at most 5 words
contract:
  checks: [{check: word_count, max: 5}]
"""
MANY = """\
version: 1
cases:
  - name: greeting
    task: Greet the world
    contract: from_task
  - task: Say no
    contract:
      required_content: [{text: no}]
    unchecked: [politely]
"""
BRIEF = EvaluationContract(checks=[{"check": "word_count", "max": 5}])


@pytest.fixture
def read(tmp_path):
    def write_and_read(text, name="cases.yaml"):
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_case_set(tmp_path / name)

    return write_and_read


def test_what_is_written_is_read_again(subtests, tmp_path):
    for name in ["cases.yaml", "cases.yml", "cases.json"]:
        for cases in [
            [TaskCase(task="Greet", contract=BRIEF)],
            CaseSet.model_validate(parse_yaml(MANY)).cases,
        ]:
            with subtests.test(name=name, cases=cases):
                path = tmp_path / f"{len(cases)}-{name}"
                write_case_set(path, cases)

                assert read_case_set(path).cases == cases


def test_an_existing_file_is_not_overwritten(tmp_path):
    (tmp_path / "cases.yaml").write_text("mine")
    with pytest.raises(FileExistsError):
        write_case_set(tmp_path / "cases.yaml", [TaskCase(task="Greet")])

    assert (tmp_path / "cases.yaml").read_text() == "mine"


NO_YAML = "this is not YAML of plain values"
BAD = [
    ("[1]", "the file: give an object, not a list"),
    ("task: x", "version: is missing; add it"),
    ("version: 2\ntask: x", "version: give 1, not 2"),
    ("version: 1\ncases: []", "cases: list should have at least 1 item"),
    ("version: 1\ntask: x\ncontract: from_tsk", "contract: give 'from_task' or an object, not a text"),
    ("version: 1\ncases: [{task: x, contrct: from_task}]", "cases[0].contrct: no field has this name; write"),
    ("version: 1\ntask: x\ncases: [{task: x}]", "task: no field has this name; leave it out"),
    ("version: 1\ntask: [x", "line 2: this is not YAML of plain values: "),
    ("version: 1\ntask: x\ntask: y", "line 3: this is not YAML of plain values: the field name 'task' is"),
    ("version: 1\n? [a]\n: x", "line 2: this is not YAML of plain values: a field name is no text"),
    ("version: 1\ncases:\n" + "- {tsk: x}\n" * 1000, "; and 1950 more problems"),
    ("version: 1\ntask: !!python/object/apply:os.getcwd []", f"line 2: {NO_YAML}: could not determine a"),
    (f"version: 1\ntask: {'[' * 1500}", f"{NO_YAML}: maximum recursion depth"),
    (f"version: 1\ntask: {'9' * 5000}", "this is not YAML of plain values: Exceeds the limit"),
    ("version: 1\ntask: ü".encode("latin-1"), "the file is not in UTF-8"),
    (f"version: 1\ntask: {'x' * MAX_BYTES}", "the file is larger than 2 MB; split it"),
]


BAD_JSON = [
    ("{", "this is not JSON: "),
    ('{"version": 1, "task": "x", "task": "y"}', "an object has the field 'task' twice"),
    ("[" * 100_000, "the JSON is nested too deep"),
]


def test_a_file_that_cannot_be_used_is_refused_in_a_sentence(subtests, read):
    for name, rows in {"cases.yaml": BAD, "cases.json": BAD_JSON}.items():
        for text, problem in rows:
            with subtests.test(name=name, text=text, problem=problem):
                with pytest.raises(ContractError) as error:
                    read(text, name)

                message = str(error.value)
                assert re.match(rf"{name}(:[0-9]+)?: ", message)
                assert problem in message
                assert "\n" not in message


def test_a_wrong_field_has_its_path_in_yaml_and_in_json(subtests, read):
    for name in ["cases.yaml", "cases.json"]:
        with subtests.test(name=name):
            wrong = {"task": "y", "contract": {"keywords": ["a"], "thresholds": {"rouge_1": "x"}}}
            text = json.dumps({"version": 1, "cases": [{"task": "x"}, wrong]})

            with pytest.raises(ContractError) as error:
                read(text, name)

            assert str(error.value).startswith(f"{name}: cases[1].contract.thresholds.rouge_1: ")


def test_a_word_that_older_yaml_takes_for_something_else_is_text(subtests):
    for word in ["no", "on", "12:30", "2026-01-01", "0x10", "010", "1_000", "Null", "yes", "="]:
        with subtests.test(word=word):
            assert parse_yaml(f"word: {word}") == {"word": word}
            assert yaml.safe_load(format_yaml({"word": word})) == {"word": word}


TEXTS = st.text(st.characters(codec="utf-8") | st.sampled_from("\x85\u2028\u2029"))
SCALARS = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | TEXTS
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    SCALARS | FLOATS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(VALUES)
def test_every_json_value_survives_yaml(value):
    assert parse_yaml(format_yaml(value)) == value


REFUSED = ("{}", "{version: 1}", "{version: 1, cases: []}", "{version: 1, task: x, contract: {keywords: 3}}")


def test_the_published_schema_describes_the_file(subtests):
    for text in [ONE, MANY, *REFUSED]:
        with subtests.test(text=text):
            assert SCHEMA.is_valid(parse_yaml(text)) is (text in {ONE, MANY})


def test_defaults_are_shared_and_a_case_adds_to_their_contract(read):
    shared, own, derived = read("""\
version: 1
defaults:
  contract: {keywords: [atlas], must_call: [price_of]}
  repeat: 3
cases:
  - task: What does the atlas cost?
  - task: And in dollars?
    contract: {keywords: [dollars]}
    repeat: 1
  - task: Say no
    contract: from_task
""").cases

    assert (shared.contract.keywords, shared.contract.must_call) == (["atlas"], ["price_of"])
    assert (own.contract.keywords, own.contract.must_call) == (["atlas", "dollars"], ["price_of"])
    assert [case.repeat for case in (shared, own, derived)] == [3, 1, 3]
    assert derived.contract == "from_task"


def test_a_known_answer_is_a_text_a_number_or_a_rule(subtests, read):
    for answer, rule in [
        ("Paris", {"text": "Paris"}),
        ("12.5", {"number": 12.5, "share": True}),
        ("{pattern: '^Par'}", {"pattern": "^Par"}),
    ]:
        with subtests.test(answer=answer):
            [case] = read(f"version: 1\ncases: [{{task: x, answer: {answer}}}]").cases

            assert case.answer.model_dump(exclude_unset=True) == rule


def test_a_name_that_is_used_twice_is_refused_with_its_place(subtests, read):
    for cases, name in [("[{name: a, task: x}, {task: y, name: a}]", "a"), ("[{task: x}, {task: x}]", "x")]:
        problem = f"cases\\.yaml: cases\\[1\\] has the name of cases\\[0\\], '{name}'; give each its own"
        with subtests.test(cases=cases), pytest.raises(ContractError, match=problem):
            read(f"version: 1\ncases: {cases}")
