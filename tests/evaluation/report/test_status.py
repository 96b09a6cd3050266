"""The status table: which finding makes what of a run."""

from itertools import product
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from evaluation.findings import STATUS, STRICTNESS, FindingKind, strictest_status
from evaluation.values import Severity

KINDS = get_args(FindingKind)
SEVERITIES = get_args(Severity)
findings = st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from(SEVERITIES)))
MEASURED = ("policy", "response", "trajectory", "operational", "collaboration", "judge", "regression")
UNKNOWN = ("judge_error", "metric_error", "check_error", "inconclusive", "lost_fact")
ROWS = [
    *((kind, "info", "passed") for kind in (*MEASURED, "drift", "anomaly", "defect", "suspicion")),
    *((kind, "warning", "warning") for kind in (*MEASURED, "drift", "anomaly", "defect")),
    ("suspicion", "warning", "needs_review"),
    *((kind, "critical", "failed") for kind in ("defect", "suspicion")),
    *((kind, "critical", "failed") for kind in (*MEASURED, *UNKNOWN, "missing_data")),
    *((kind, severity, "needs_review") for kind, severity in product(UNKNOWN, ("info", "warning"))),
    *((kind, "info", "passed") for kind in ("record", "undecided")),
    *((kind, "warning", "needs_review") for kind in ("record", "undecided")),
    *((kind, "critical", "failed") for kind in ("record", "undecided")),
    ("missing_data", "info", "warning"),
    ("missing_data", "warning", "needs_review"),
    ("drift", "critical", "needs_review"),
    ("anomaly", "critical", "needs_review"),
    *(("execution", severity, "failed") for severity in SEVERITIES),
    *(("improvement", severity, "passed") for severity in ("info", "warning", "critical")),
    *(("invalid_input", severity, "invalid") for severity in SEVERITIES),
]


def test_each_finding_has_its_status(subtests):
    for kind, severity, status in ROWS:
        with subtests.test(kind=kind, severity=severity, status=status):
            assert strictest_status([(kind, severity)]) == status


def test_the_rows_are_the_whole_table():
    assert {(kind, severity) for kind, severity, _ in ROWS} == set(product(KINDS, SEVERITIES))
    assert set(STATUS) == set(KINDS)


@given(findings, findings)
def test_more_findings_never_make_the_status_milder(some, more):
    assert STRICTNESS.index(strictest_status([*some, *more])) >= STRICTNESS.index(strictest_status(some))
