"""A writing call may be refused in the text of its answer alone."""

import pytest

from evaluation.importers.tool_answers import describes_error, has_failed

REFUSALS = ["Error: too late", "error: too late", "Error executing tool pay: no", '{"error": "too late"}']
DEEP = "[" * 100_000


@pytest.mark.parametrize("answer", [*REFUSALS, {"error": "no"}, {"isError": True, "content": []}])
def test_an_answer_describes_an_error(answer):
    assert describes_error(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "Paid.",
        "No error: paid.",
        '{"error": null, "id": 7}',
        '{"id": 7',
        {"error": False},
        None,
        "",
        [],
        [[]],
        DEEP,
        [7],
    ],
)
def test_any_other_answer_describes_none(answer):
    assert not describes_error(answer)


@pytest.mark.parametrize("answer", REFUSALS)
def test_only_a_writing_tool_fails_by_its_answer(answer):
    assert has_failed(answer, (), is_write=True)
    assert not has_failed(answer, (), is_write=False)


@pytest.mark.parametrize("is_write", [True, False])
@pytest.mark.parametrize(
    ("answer", "fails"),
    [
        ("Could not find it.", True),
        ({"outcome": "REFUSED", "id": 7}, True),
        ('{"outcome": "refused", "done": false}', True),
        ({"done": False}, True),
        ({"done": 0}, False),
        ({"outcome": "accepted"}, False),
        ("I could not be happier.", False),
        (None, False),
    ],
)
def test_a_contract_lists_further_answers_of_failed_calls(answer, fails, is_write):
    listed = ["could not", {"outcome": "refused"}, {"done": False}]

    assert has_failed(answer, listed, is_write=is_write) is fails
