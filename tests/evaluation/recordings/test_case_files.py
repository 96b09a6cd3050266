import json

import pytest

from evaluation import evaluate_many, read_cases

GOOD = json.dumps({"agent_run": {"final_output": "Yes."}, "reference_output": "Yes."})


@pytest.fixture
def lines(tmp_path):
    def evaluated(*given, name="runs.jsonl"):
        (tmp_path / name).write_bytes(
            b"\n".join(one if isinstance(one, bytes) else one.encode() for one in given)
        )
        return list(evaluate_many(read_cases(tmp_path / name)))

    return evaluated


BROKEN = [
    ('{"agent_run": ', "this is not JSON"),
    (b'{"case_id": "\xc3"}', "this is no text in UTF-8, so no JSON"),
    ("1" * 10_000, "this is not JSON: Exceeds the limit"),
    ("[" * 100_000, "the JSON is nested too deep"),
    ('{"agent_run": {}, "keywords": ["a"], "keywords": []}', "an object has the field 'keywords'"),
    ("[1]", "it has no fields of a known format"),
]


def test_a_line_that_cannot_be_read_is_told_and_the_rest_evaluated(subtests, lines):
    for line, problem in BROKEN:
        with subtests.test(line=line, problem=problem):
            before, broken, after = lines(GOOD, line, GOOD)

            assert (before.status, broken.status, after.status) == ("passed", "invalid", "passed")
            assert broken.errors[0].startswith(f"runs.jsonl:2: {problem}")


def test_a_case_keeps_the_name_that_it_has(lines):
    (report,) = lines('{"case_id": "order", "agent_run": 5}')

    assert (report.status, report.case_id) == ("invalid", "order")


def test_the_cases_of_a_list_are_named_by_their_place(lines):
    reports = lines(f"[{GOOD}, 5]", name="runs.json")

    assert [report.case_id for report in reports] == ["runs.json[0]", "runs.json[1]"]


def test_lines_are_read_as_the_cases_are_taken(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text(f"{GOOD}\n" * 100_000)
    cases = read_cases(path)

    next(cases)
    path.write_text("")

    assert sum(1 for _ in cases) < 99_999
