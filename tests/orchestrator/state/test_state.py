"""The reducer of the results, and what is read from a state: pure functions."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator import StepRecord
from orchestrator.state.current_step import format_entry, last_refused_record
from orchestrator.state.graph_state import blank_state
from orchestrator.state.reducers import append_entries, merge_record_lists, merge_records
from orchestrator.state.usage import NO_USAGE
from tests.fakes.records import record as build_record

STATUSES = ("pending_validation", "validated", "failed", "needs_review")


def record(
    step_index: int, attempt: int, status: str = "pending_validation", result: str = "r"
) -> StepRecord:
    return build_record(step_index, attempt, status=status, result=result, usage=NO_USAGE)


def key(item: StepRecord) -> tuple[int, int]:
    return item["step_index"], item["attempt"]


records = st.builds(
    record,
    step_index=st.integers(0, 4),
    attempt=st.integers(1, 3),
    status=st.sampled_from(STATUSES),
    result=st.text(max_size=5),
)
histories = st.lists(records, unique_by=key).map(lambda items: sorted(items, key=key))
"""As a run makes them: step by step, attempt by attempt."""


@given(histories, st.lists(records))
def test_settling_changes_neither_of_its_inputs(current, new):
    before = copy.deepcopy((current, new))

    assert merge_records(current, new) is not current
    assert (current, new) == before


@given(histories, records, st.data())
def test_a_record_with_a_known_key_replaces_that_one_and_no_other(current, new, data):
    if not current:
        return
    at = data.draw(st.integers(0, len(current) - 1))
    new = {**new, "step_index": current[at]["step_index"], "attempt": current[at]["attempt"]}

    assert merge_records(current, [new]) == [*current[:at], new, *current[at + 1 :]]


def test_a_blank_state_is_plain_json():
    state = blank_state("task", 2)

    assert json.loads(json.dumps(state)) == state


@pytest.mark.parametrize(
    ("context", "longer"),
    [("", "Step 1: one\nResult: out"), ("before", "before\n\nStep 1: one\nResult: out")],
)
def test_results_follow_each_other_after_a_blank_line(context, longer):
    entry = format_entry({**record(0, 1, result="out"), "step": "one"})

    assert append_entries(context, [entry]) == longer


@given(histories, st.lists(st.lists(records)), st.lists(st.lists(records)))
def test_settling_at_once_or_one_after_another_is_the_same(current, first, second):
    both = merge_record_lists(current, [*first, *second])

    assert merge_record_lists(merge_record_lists(current, first), second) == both


@pytest.mark.parametrize(
    ("results", "attempts", "last"),
    [
        ([record(0, 1, "validated")], 0, None),
        ([record(0, 1), record(0, 2)], 2, record(0, 2)),
        ([], 1, None),
    ],
)
def test_the_last_refusal_is_the_latest_record_of_the_current_step(results, attempts, last):
    state = {**blank_state("x", 2), "results": results, "attempts": attempts}

    assert last_refused_record(state) == last
