from hypothesis import given
from hypothesis import strategies as st

from evaluation import EvaluationContract, JudgeTrust, evaluate
from evaluation.contract.requirements import Contract
from evaluation.judges.figures import VerdictCounts
from orchestrator.judging.evidence import Evidence, is_enough, read_evidence
from tests.fakes.executor import FakeExecutor, SynthesizingExecutor
from tests.fakes.hook import RecordingHook
from tests.fakes.runs import build


def measured(accepted, total=60):
    """The figures of a judge that accepts all right outputs and ``accepted`` of ``total`` wrong ones."""
    nothing, wrong = VerdictCounts(), VerdictCounts(accepted=accepted, refused=total - accepted)
    counts = {"right": VerdictCounts(60), "subtle": wrong, "plain": nothing, "injected": nothing}
    return JudgeTrust("judge", counts)


TRUSTED, GULLIBLE, WEAK = measured(1), measured(57), measured(20)
FORM, CONTENT = ("word_count", "language"), ("contains",)
UNVERIFIED = [
    (Evidence(), "Answer: not verified (nothing checked it)."),
    (Evidence(form=FORM, judge=True), "Form: 2 checks passed. Answer: not verified (the model's own word)."),
    (
        Evidence(actions=("must_call",)),
        "Actions: 1 check passed. Answer: not verified (nothing checked it).",
    ),
    (Evidence(content=CONTENT, failed=1), "Answer: not verified (1 of 2 checks failed)."),
    (Evidence(content=CONTENT, undecided=1), "Answer: not verified (1 check could not be decided)."),
    (
        Evidence(content=CONTENT, unchecked=("in a friendly\ntone",)),
        "Answer: not verified (“in a friendly tone” was not checked).",
    ),
    (Evidence(accepted=False, judge=False), "Answer: not verified (refused by the judge)."),
    (
        Evidence(judge=True, trust=GULLIBLE),
        "Answer: not verified (the model's own word, which approves nearly everything).",
    ),
    (
        Evidence(judge=True, trust=WEAK),
        f"Answer: not verified (the model's own word, which is not trusted: {WEAK.distrust}).",
    ),
]
WHOLE = Evidence(form=FORM, complete=True)
TABLE = [
    *((evidence, "unverified", words) for evidence, words in UNVERIFIED),
    (Evidence(form=FORM, content=CONTENT), "checked", "Form: 2 checks passed. Answer: 1 check passed."),
    (WHOLE, "checked", "Form: 2 checks passed. Answer: the contract asks for no more."),
    (Evidence(judge=True, trust=TRUSTED), "judged", "Answer: accepted by a judge that is trusted."),
    (Evidence(failed=2, unchecked=("a",), judge=False, person="ada"), "approved", "Answer: approved by ada."),
]


PAYING = {"trajectory": {"acting_tools": ["pay", "refund"]}}
PAID = {**PAYING, "expected_trajectory": ["pay"]}


def test_the_table(subtests):
    for evidence, basis, words in TABLE:
        with subtests.test(evidence=evidence, basis=basis, words=words):
            assert (evidence.basis, evidence.reason) == (basis, words)


NAMES = st.sampled_from([(), ("a",), ("a", "b")])
EVIDENCE = st.builds(
    Evidence,
    accepted=st.booleans(),
    form=NAMES,
    content=NAMES,
    actions=NAMES,
    failed=st.integers(0, 2),
    undecided=st.integers(0, 2),
    unchecked=NAMES,
    complete=st.booleans(),
    judge=st.sampled_from([None, True, False]),
    trust=st.sampled_from([None, TRUSTED, GULLIBLE]),
)


@given(EVIDENCE)
def test_nothing_but_evidence_makes_a_claim(evidence):
    basis, record = evidence.basis, evidence.record

    if basis == "checked":
        assert evidence.accepted
        assert evidence.content or evidence.complete
        assert (evidence.failed, evidence.undecided, evidence.unchecked) == (0, 0, ())
    if basis == "judged":
        assert evidence.accepted
        assert (evidence.judge, evidence.trust, evidence.failed) == (True, TRUSTED, 0)
    assert ("not verified" in evidence.reason) == (basis == "unverified")
    assert (record["content"]["by"] == "code") == bool(evidence.content)


def outcome(metric, passed=True, reason="", kind="response"):
    return {"kind": kind, "metric": metric, "passed": passed, "reason": reason}


def record(check, covers, passed=True, source="contract"):
    sentence = f"{check} {passed}"
    return {"check": check, "passed": passed, "covers": covers, "source": source, "sentence": sentence}


def report_with(*records, metrics=(), status="passed", alerts=()):
    told = [outcome(f"checks.{each['check']}", each["passed"], each["sentence"]) for each in records]
    groups, judge = {"response": {"checks": [*told, *metrics]}}, {"result": {"passed": True}}
    return {"status": status, "checks": [*records], "metrics": groups, "judge": judge, "alerts": [*alerts]}


def test_a_requirement_is_satisfied_by_more(subtests):
    for required, enough in [
        (None, {"checked", "judged", "approved", "unverified"}),
        ("judged", {"checked", "judged", "approved"}),
        ("checked", {"checked", "approved"}),
        ("approved", {"approved"}),
    ]:
        with subtests.test(required=required):
            bases = ("checked", "judged", "approved", "unverified")

            assert {basis for basis in bases if is_enough(basis, required)} == enough


def test_the_evidence_is_what_the_report_says_of_form_content_and_actions():
    records = [
        record("word_count", "form"),
        record("contains", "content"),
        record("tool_calls", "actions"),
        record("regex", "content", None),
        record("json", "form", False),
    ]

    assert read_evidence(report_with(*records), Contract(), ["a"]) == Evidence(
        True, ("word_count",), ("contains",), ("tool_calls",), 1, 1, ("a",), judge=True
    )


def test_a_reference_and_expected_effects_are_content(subtests):
    for contract, content, actions in [
        ({}, ("rouge_1",), ("trajectory",)),
        (PAID, ("rouge_1", "trajectory"), ()),
        # Nothing has to be done, so that nothing is proven of the answer.
        ({**PAYING, "expected_trajectory": []}, ("rouge_1",), ("trajectory",)),
        ({**PAYING, "expected_trajectory": [{"any_of": ["pay", "find"]}]}, ("rouge_1",), ("trajectory",)),
        ({**PAID, "trajectory_match_mode": "subset"}, ("rouge_1",), ("trajectory",)),
    ]:
        with subtests.test(contract=contract):
            metrics = [outcome("rouge_1"), outcome("words"), outcome("trajectory", kind="trajectory")]
            report = report_with(metrics=[*metrics, outcome("x", kind="operational")])

            found = read_evidence(report, Contract.read(contract))

            assert (found.form, found.content, found.actions) == (("words",), content, actions)


def test_what_only_the_words_of_a_task_state_proves_nothing_of_the_content(subtests):
    for origin, form, content in [
        ("caller", (), ("contains", "rouge_1", "audit")),
        ("task", ("contains", "rouge_1", "audit"), ()),
    ]:
        with subtests.test(origin=origin):
            fields = {
                "checks": [{"check": "contains", "texts": ["a"]}],
                "reference_output": "a b",
                "audit": {"rules": [{"id": "a", "required": {"text": "a"}}]},
            }
            contract = Contract.read(fields, origin)
            report = evaluate({"agent_run": {"final_output": "a b"}, "contract": contract})

            found = read_evidence(report.model_dump(mode="json"), contract)

            assert (found.form, found.content) == (form, content)


def test_content_that_an_audit_rule_requires_is_content():
    rules = [{"id": "a", "required": {"text": "x"}}, {"id": "b", "forbidden": {"text": "y"}}]
    broken = report_with(status="warning", alerts=[{"kind": "policy"}])

    read = Contract.read({"audit": {"rules": rules}})
    assert [read_evidence(report, read).content for report in (report_with(), broken)] == [("audit",), ()]


def test_what_an_answer_does_not_say_proves_nothing(subtests):
    for stated, basis in [
        ({"forbidden_content": [{"text": "rotten"}]}, "unverified"),
        ({"forbidden_content": [{"pattern": "rot+en"}]}, "unverified"),
        ({"forbidden_content": [{"number": 7}]}, "unverified"),
        ({"forbidden_content": [{"number": 7}], "thresholds": {"forbidden_content": 0}}, "unverified"),
        ({"expected_trajectory": [], "trajectory": {"acting_tools": ["buy"]}}, "unverified"),
        ({"checks": [{"check": "excludes", "texts": ["rotten"]}]}, "unverified"),
        ({"checks": [{"check": "occurrences", "text": "the", "max": 2}]}, "unverified"),
        ({"checks": [{"check": "occurrences", "text": "apple", "min": 1}]}, "checked"),
        ({"required_content": [{"pattern": "app.e"}]}, "checked"),
        ({"required_content": [{"text": "apple"}], "forbidden_content": [{"text": "rotten"}]}, "checked"),
    ]:
        with subtests.test(stated=stated):
            contract = EvaluationContract.model_validate(stated)
            orchestrator = build(FakeExecutor("An apple"), plan=["one"], contract=contract)

            assert orchestrator.run("Name a fruit")["basis"] == basis


def test_the_evidence_stands_in_the_record_the_state_and_the_event():
    short = EvaluationContract(checks=[{"check": "word_count", "max": 2}], complete=True)
    hook, contract = RecordingHook(), EvaluationContract(required_content=[{"text": "answered"}])
    options = {"step_contract": short, "contract": contract, "hooks": [hook]}
    state = build(SynthesizingExecutor(), **options).run("Name a fruit")
    parts = {"form": "nothing", "content": "code", "actions": "nothing"}

    assert (state["evidence"], hook.events[-1].evidence) == (parts, parts)
    assert state["synthesis"][-1]["evidence"] == {
        "form": {"by": "nothing", "checks": []},
        "content": {"by": "code", "checks": ["required_content"]},
        "actions": {"by": "nothing", "checks": []},
    }
