"""A case is appended to a file of cases, and the rest of its text stays as it is."""

from __future__ import annotations

import pytest

from evaluation import ContractError, TaskCase, read_case_set
from evaluation.cases.case_files import append_case

CASE = TaskCase(
    name="new", task="Say: no #1", contract={"expected_trajectory": [{"name": "f", "args": {"a": 1}}]}
)
FILES = {
    "at the end": "version: 1\ncases:\n  # the first\n  - task: x  # a comment\n",
    "without a last line break": "version: 1\ncases:\n- task: x",
    "after a text of several lines": "version: 1\ncases:\n\n  - task: |\n      two\n      lines\n",
    "after a comment": "version: 1\ncases:\n- task: x\n  unchecked: [a,\n    b]\n\n# the last one\n",
}


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_a_case_is_the_last_one_and_every_line_stays(tmp_path, text):
    file = tmp_path / "cases.yaml"
    file.write_text(text)
    before = read_case_set(file).cases

    append_case(file, CASE)

    assert read_case_set(file).cases == [*before, CASE]
    kept = iter(file.read_text().splitlines())
    assert all(line in kept for line in text.splitlines())


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("cases.yaml", "version: 1\ntask: x\n", "cases.yaml does not end with a list of cases"),
        ("cases.yaml", "cases:\n- task: x\nversion: 1\n", "cases.yaml does not end with a list of cases"),
        ("cases.yaml", "version: 1\ncases: [{task: x}]\n", "cases.yaml does not end with a list of cases"),
        (
            "cases.json",
            '{"version": 1, "cases": [{"task": "x"}]}',
            "give a file in YAML whose last field is `cases:`",
        ),
        ("cases.yaml", "version: 1\ncases:\n- {name: new, task: x}\n", "cases.yaml has a case 'new' already"),
    ],
)
def test_a_file_that_cannot_be_appended_to_is_refused_and_kept(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)

    with pytest.raises(ContractError, match=message):
        append_case(tmp_path / name, CASE)
    assert (tmp_path / name).read_text() == text
