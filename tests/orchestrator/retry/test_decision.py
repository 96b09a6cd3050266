from agents import TransportRetry
from orchestrator import RetryPolicy
from orchestrator.retry import AskHumanRule, EscalateRule, FeedbackRule, ResampleRule, decide
from tests.fakes.records import corrected, followed_by, judged
from tests.fakes.runs import refused_with


def refused(*kinds, number=1, **fields):
    """A refused execution; without kinds, a check of content failed."""
    return judged(kinds=kinds or ("content",), attempt=number, **fields)


def refusals(count, **fields):
    return [refused(number=number + 1, **fields) for number in range(count)]


def play(policy, kinds):
    history, uses = [], []
    for number, kind in enumerate(kinds, 1):
        attempt = refused(kind, number=number)
        decision = decide(policy, [*history, attempt])
        history.append(followed_by(attempt, decision.use, decision.position))
        uses.append(decision.use)
    return uses


MIXED = RetryPolicy(
    max_retries=4,
    strategies=[
        {"use": "feedback", "after": "format", "times": 1},
        {"use": "resample", "times": 2},
        {"use": "feedback"},
    ],
)


def test_the_first_rule_that_matches_and_is_not_used_up_decides(subtests):
    for kinds, uses in [
        (["format"], ["feedback"]),
        (["format", "format"], ["feedback", "resample"]),
        (["content", "content", "content", "content"], ["resample", "resample", "feedback", "feedback"]),
        (["content"] * 5, ["resample", "resample", "feedback", "feedback", "stop"]),
    ]:
        with subtests.test(kinds=kinds):
            assert play(MIXED, kinds) == uses


def test_a_decision_names_its_rule_its_place_and_its_reason():
    decision = decide(MIXED, [refused("content", "length")])

    assert decision.rule == ResampleRule(times=2)
    assert (decision.position, decision.reason) == (1, "content, length failed at attempt 1")


NO_VERDICT = judged("needs_review", ())


def test_without_a_verdict(subtests):
    resample, ask = {"use": "resample", "after": ["unverified"]}, {"use": "ask_human", "after": "unverified"}
    for policy, use in [
        (RetryPolicy(), "stop"),
        (RetryPolicy(max_replans=1), "stop"),
        (RetryPolicy(max_retries=0, strategies=[resample]), "stop"),
        (RetryPolicy(strategies=[resample]), "resample"),
        (RetryPolicy(strategies=[{"use": "feedback"}, ask]), "ask_human"),
    ]:
        with subtests.test(policy=policy):
            assert decide(policy, [NO_VERDICT]).use == use


def test_when_the_retries_end(subtests):
    for policy, attempts, use in [
        (RetryPolicy(max_retries=0), 1, "stop"),
        (RetryPolicy(max_retries=1), 2, "stop"),
        (RetryPolicy(max_retries=1, max_replans=1), 2, "replan"),
        (RetryPolicy(max_retries=1, strategies=[FeedbackRule(), AskHumanRule()]), 2, "ask_human"),
        (RetryPolicy(strategies=[FeedbackRule(after="tool")]), 1, "stop"),
    ]:
        with subtests.test(policy=policy, attempts=attempts):
            decision = decide(policy, refusals(attempts, score=0.5))

            assert decision.use == use
            if use == "stop":
                times = "once" if attempts == 1 else f"{attempts} times"
                assert decision.reason in {
                    f"refused {times}, max_retries is {policy.max_retries}",
                    "no strategy is left for: content",
                }


def test_a_correction_counts_for_whoever_made_it():
    history = [corrected(refused()), refused(number=2), refused(number=3)]

    assert decide(RetryPolicy(max_retries=2), history).use == "feedback"


TEXT = """
max_retries: 4
strategies:
  - {use: feedback, after: [format, length], times: 1, last_output: none}
  - {use: resample, times: 1, temperature: 0.9}
  - {use: escalate, model: "ollama:qwen3"}
transport: {max_attempts: 2}
"""
POLICY = RetryPolicy(
    max_retries=4,
    strategies=(
        FeedbackRule(after=("format", "length"), times=1, last_output="none"),
        ResampleRule(times=1, temperature=0.9),
        EscalateRule(model="ollama:qwen3"),
    ),
    transport=TransportRetry(max_attempts=2),
)


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\xfa")

    for file, problem in (
        (tmp_path / "none.yaml", "No such file or directory"),
        (binary, "the file is not in UTF-8 (invalid start byte at byte 0)"),
    ):
        told = f"the retry policy {str(file)!r} cannot be used ({problem})"
        with refused_with(told, "; give YAML such as {max_retries: 3}"):
            RetryPolicy.from_yaml(file)


def test_a_policy_is_read_from_yaml_as_a_person_writes_it():
    assert RetryPolicy.from_yaml(TEXT) == POLICY


def test_a_policy_that_is_written_is_read_as_the_same():
    assert RetryPolicy.from_yaml(POLICY.to_yaml()) == POLICY
    assert RetryPolicy.from_yaml(POLICY.model_dump_json()) == POLICY
    assert RetryPolicy.model_validate_json(POLICY.model_dump_json()) == POLICY
    assert RetryPolicy.from_yaml(RetryPolicy().to_yaml()) == RetryPolicy()


def test_a_wrong_value_is_refused_in_one_sentence(subtests):
    warm, rules = {"use": "feedback", "temperature": 5}, "give a list of rules, such as [FeedbackRule()]"
    for name, value, sentence in [
        ("strategies", [], f"strategies is []; {rules}"),
        ("strategies", [{"use": "hope"}], f"strategies[0] is {{'use': 'hope'}}; {rules}"),
        ("strategies", [warm], "strategies[0]: temperature is 5; give a number from 0 to 2, or None"),
        ("strategies", [{"use": "escalate"}], "strategies[0]: model is missing; give a model specification"),
        ("transport", 3, "transport is 3; give a TransportRetry, or an object with its fields"),
        ("transport", {"max_attempts": 0}, "transport is 0; give a TransportRetry"),
    ]:
        with subtests.test(value=value), refused_with(sentence):
            RetryPolicy(**{name: value})


def test_a_text_that_is_no_policy_is_refused(subtests):
    no_yaml = "the retry policy cannot be used (line 1: this is not YAML of plain values"
    accepted = "give an object such as {max_retries: 3}, or the Path of a file"
    for text, sentence in [
        ("a: [", no_yaml),
        ("policy.yaml", f"the retry policy is 'policy.yaml'; {accepted}"),
        ("max_retry: 1", "max_retry is not an argument of RetryPolicy; give any of max_retries,"),
        ("!!python/object/apply:os.system [ls]", f"{no_yaml}: could not determine"),
    ]:
        with subtests.test(text=text), refused_with(sentence):
            RetryPolicy.from_yaml(text)
