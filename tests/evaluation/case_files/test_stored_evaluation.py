import pytest

from evaluation import ContractError
from evaluation.cases.case_result import (
    EvaluationEnd,
    EvaluationHeader,
    append_results,
    build_baseline,
    compare_baselines,
    describe_run,
    read_baseline,
    read_end,
    read_results,
    write_baseline,
)
from tests.evaluation.reporting.results import stored

HEADER = EvaluationHeader(options={"model": "m"}, cases="abc")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "results.jsonl"
    with append_results(path, HEADER) as (_, append):
        append(stored(agent_run={"final_output": "Hello"}, reasons=("one",), task="Greet"))
        append(stored(trial=1, correct=False))
    return path


def test_a_result_is_in_the_file_as_soon_as_it_is_appended(tmp_path):
    with append_results(tmp_path / "results.jsonl", HEADER) as (_, append):
        append(stored())
        assert [*read_results(tmp_path / "results.jsonl")] == [stored()]


def test_the_end_is_the_last_line_also_of_an_evaluation_that_is_continued(file):
    for trial in (2, 3):
        with append_results(file, HEADER) as (_, append):
            append(stored(trial=trial))
            append(EvaluationEnd(unread=(f"{trial} lines",)))

    assert [each.trial for each in read_results(file)] == [0, 1, 2, 3]
    assert read_end(file).unread == ("3 lines",)


def test_a_line_behind_the_end_is_named(file):
    with append_results(file, HEADER) as (_, append):
        append(EvaluationEnd(unread=()))
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines, lines[1]]))

    with pytest.raises(ContractError, match=r"results\.jsonl:5: the evaluation ended in the line before"):
        [*read_results(file)]


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (EvaluationHeader(options={"model": "other"}, cases="abc"), r"of other options \(model\); give"),
        (EvaluationHeader(options={"model": "m"}, cases="def"), "of other cases; give another file"),
    ],
)
def test_results_of_other_cases_or_options_are_refused_and_kept(file, header, message):
    before = file.read_bytes()

    with pytest.raises(ContractError, match=message), append_results(file, header):
        pass
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('"version":1', '"version":2'), "results.jsonl:1: version: "),
        (("plan-execute-monitor evaluation", "another"), "results.jsonl:1: this is no stored evaluation"),
        (('{"name"', '["name"'), "results.jsonl:2: the line: Invalid JSON"),
        (('"status":"passed"', '"status":"fine"'), "results.jsonl:2: status: Input should be 'passed'"),
        (('"task"', '"tasks"'), "results.jsonl:2: tasks: Extra inputs are not permitted"),
    ],
)
def test_a_wrong_line_is_named(file, change, message):
    file.write_text(file.read_text().replace(*change))

    with pytest.raises(ContractError) as caught:
        [*read_results(file)]
    assert message in str(caught.value)


def test_nothing_sensitive_of_a_run_is_kept():
    case = {
        "case_id": "login",
        "agent_run": {"input": "Use password=tr0ub4dor&3", "final_output": "I used tr0ub4dor&3."},
        "required_content": [{"text": "tr0ub4dor&3"}],
    }

    parts = describe_run(case)

    assert parts["agent_run"]["final_output"] == "I used [password]."
    assert "tr0ub4dor" not in str(parts)
    assert parts["expected"].keys() == {"required_content"}


def results(*statuses, name="a", basis="checked"):
    return [stored(name, status, trial=trial, basis=basis) for trial, status in enumerate(statuses)]


@pytest.fixture
def compare(tmp_path):
    def write_and_compare(before, after):
        file = tmp_path / "baseline.yaml"
        write_baseline(file, build_baseline(before))
        return compare_baselines(read_baseline(file), build_baseline(after))

    return write_and_compare


def test_the_file_is_in_the_order_of_the_names(tmp_path):
    write_baseline(tmp_path / "b.yaml", build_baseline([*results("passed", name="b"), *results("failed")]))

    assert (tmp_path / "b.yaml").read_text() == (
        "version: 1\ncases:\n  a:\n    status: failed\n    basis: checked\n    passed: 0\n    runs: 1\n"
        "  b:\n    status: passed\n    basis: checked\n    passed: 1\n    runs: 1\n"
    )


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        (results("passed"), results("passed"), (0, 0)),
        (results("passed"), results("warning"), (1, 0)),
        (results("failed"), results("needs_review"), (0, 1)),
        (results("passed"), results("passed", basis="unverified"), (1, 0)),
        (results("passed", basis="approved"), results("passed"), (0, 0)),
        (results(*["passed"] * 5), results(*["passed"] * 4, "failed"), (0, 0)),
        (results(*["passed"] * 5), results("passed", *["failed"] * 4), (1, 0)),
        (results(*["failed"] * 5), results(*["passed"] * 5), (0, 1)),
    ],
)
def test_a_change_is_named(compare, before, after, changed):
    assert tuple(map(len, compare(before, after))) == changed
