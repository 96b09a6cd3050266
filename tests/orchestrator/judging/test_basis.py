"""What an acceptance rests on: the decision table, and its words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation import JudgeTrust
from evaluation.judges.trust.figures import VerdictCounts
from orchestrator.judging.basis import Evidence, describe_basis, find_basis, is_enough, read_evidence


def measured(accepted, total=60):
    """The figures of a judge that accepts all right outputs and ``accepted`` of ``total`` wrong ones."""
    nothing = VerdictCounts()
    wrong = VerdictCounts(accepted=accepted, refused=total - accepted)
    return JudgeTrust(
        "judge", {"right": VerdictCounts(60), "subtle": wrong, "plain": nothing, "injected": nothing}
    )


TRUSTED, GULLIBLE, WEAK = measured(1), measured(57), measured(20)
TABLE = [
    (Evidence(), "unverified", "nothing was checked: unverified"),
    (Evidence(passed=3), "checked", "3 checks passed"),
    (Evidence(passed=1), "checked", "1 check passed"),
    (
        Evidence(passed=3, stated=False, derived=True),
        "unverified",
        "3 checks of the form passed; nothing checked the content: unverified",
    ),
    (Evidence(passed=2, failed=1), "unverified", "1 of 3 checks failed: unverified"),
    (
        Evidence(passed=2, undecided=1),
        "unverified",
        "2 checks passed, but 1 could not be decided: unverified",
    ),
    (Evidence(undecided=1), "unverified", "0 checks passed, but 1 could not be decided: unverified"),
    (
        Evidence(passed=2, unchecked=("in a friendly\ntone",)),
        "unverified",
        "2 checks passed, but “in a friendly tone” was not checked: unverified",
    ),
    (
        Evidence(passed=2, unchecked=("a", "b", "c", "d")),
        "unverified",
        "2 checks passed, but “a”, “b” and 2 more were not checked: unverified",
    ),
    (Evidence(passed=1, judge=True), "checked", "1 check passed"),
    (Evidence(judge=True, trust=TRUSTED), "judged", "accepted by a judge that is trusted"),
    (
        Evidence(passed=2, unchecked=("a",), judge=True, trust=TRUSTED),
        "judged",
        "accepted by a judge that is trusted",
    ),
    (Evidence(failed=1, judge=True, trust=TRUSTED), "unverified", "1 of 1 check failed: unverified"),
    (Evidence(accepted=False, judge=False, trust=TRUSTED), "unverified", "refused by the judge: unverified"),
    (Evidence(accepted=False, passed=2, judge=False), "unverified", "refused by the judge: unverified"),
    (Evidence(accepted=False, passed=2), "unverified", "refused by the evaluation: unverified"),
    (Evidence(accepted=False, passed=1, failed=1), "unverified", "1 of 2 checks failed: unverified"),
    (
        Evidence(judge=True),
        "unverified",
        "accepted by the model alone, whose judgement was not measured: unverified",
    ),
    (
        Evidence(judge=True, trust=GULLIBLE),
        "unverified",
        "accepted by the model alone, which approves nearly everything: unverified",
    ),
    (
        Evidence(judge=True, trust=WEAK),
        "unverified",
        f"accepted by the model alone, which is not trusted ({WEAK.distrust}): unverified",
    ),
    (Evidence(person="ada"), "approved", "approved by ada"),
    (Evidence(failed=2, unchecked=("a",), judge=False, person="ada"), "approved", "approved by ada"),
]


@pytest.mark.parametrize(("evidence", "basis", "words"), TABLE)
def test_the_table(evidence, basis, words):
    assert (find_basis(evidence), describe_basis(evidence)) == (basis, words)


COUNTS = st.integers(0, 3)
EVIDENCE = st.builds(
    Evidence,
    st.booleans(),
    COUNTS,
    COUNTS,
    COUNTS,
    st.lists(st.sampled_from("ab"), max_size=2),
    st.sampled_from([None, True, False]),
    st.sampled_from([None, TRUSTED, GULLIBLE]),
    st.none(),
)


@given(EVIDENCE)
def test_nothing_but_evidence_makes_a_claim(evidence):
    basis = find_basis(evidence)

    if basis == "checked":
        assert evidence.accepted
        assert evidence.passed
        assert (evidence.failed, evidence.undecided, evidence.unchecked) == (0, 0, [])
    if basis == "judged":
        assert evidence.accepted
        assert (evidence.judge, evidence.trust, evidence.failed) == (True, TRUSTED, 0)
    assert ("unverified" in describe_basis(evidence)) == (basis == "unverified")


@pytest.mark.parametrize(
    ("required", "enough"),
    [
        (None, {"checked", "judged", "approved", "unverified"}),
        ("judged", {"checked", "judged", "approved"}),
        ("checked", {"checked", "approved"}),
    ],
)
def test_a_requirement_is_satisfied_by_more(required, enough):
    bases = ("checked", "judged", "approved", "unverified")

    assert {basis for basis in bases if is_enough(basis, required)} == enough


def report_with(status="passed", **groups):
    metrics = {
        name: {"checks": [{"passed": passed} for passed in outcomes]} for name, outcomes in groups.items()
    }
    return {"status": status, "metrics": metrics, "judge": {"result": {"passed": True}}, "alerts": []}


def test_the_evidence_is_what_the_report_says_of_the_output_and_the_tools():
    report = report_with(response=[True, False, None], trajectory=[True], operational=[True, False])

    assert read_evidence(report, {}, ["a"]) == Evidence(True, 2, 1, 1, ("a",), judge=True)


def test_content_that_an_audit_rule_requires_is_a_check():
    contract = {"audit": {"rules": [{"id": "a", "required": {"text": "x"}}, {"id": "b", "forbidden": {}}]}}
    broken = {**report_with("warning"), "alerts": [{"kind": "policy"}]}

    assert [read_evidence(report, contract).passed for report in (report_with(), broken)] == [1, 0]


@pytest.mark.parametrize(
    "report", [{}, {"metrics": None, "judge": None}, {"judge": {"result": {"passed": None}}}]
)
def test_a_report_without_outcomes_is_no_evidence(report):
    assert read_evidence(report, {}) == Evidence(accepted=False)
