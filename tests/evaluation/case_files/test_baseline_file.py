"""A baseline is a file to review; a case is worse if its status, its basis or its share of passes fell."""

from __future__ import annotations

import pytest

from evaluation.cases.case_result import (
    CaseResult,
    build_baseline,
    compare_baselines,
    read_baseline,
    write_baseline,
)


def results(*statuses, basis="checked", name="a"):
    return [
        CaseResult(name=name, trial=trial, status=status, basis=basis, accepted=status == "passed")
        for trial, status in enumerate(statuses)
    ]


@pytest.fixture
def compare(tmp_path):
    """Compare two lists of results, the first of them by its file."""

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
