"""A retry policy is one value: data that can be stored and varied, refused if it makes no sense."""

from __future__ import annotations

import pytest

from agents import TransportRetry
from orchestrator import ConfigurationError, RetryPolicy
from orchestrator.retry import EscalateRule, FeedbackRule, ResampleRule

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
        (tmp_path / "none.yaml", " cannot be read (No such file or directory); give a YAML file in UTF-8"),
        (binary, ": the file is not in UTF-8 (invalid start byte at byte 0)"),
    ):
        with pytest.raises(ConfigurationError) as caught:
            RetryPolicy.from_yaml(file)
        assert str(caught.value) == f"the retry policy {str(file)!r}{problem}"


def test_a_policy_is_read_from_yaml_as_a_person_writes_it():
    assert RetryPolicy.from_yaml(TEXT) == POLICY


def test_a_policy_that_is_written_is_read_as_the_same():
    assert RetryPolicy.from_yaml(POLICY.to_yaml()) == POLICY
    assert RetryPolicy.from_yaml(POLICY.model_dump_json()) == POLICY
    assert RetryPolicy.model_validate_json(POLICY.model_dump_json()) == POLICY
    assert RetryPolicy.from_yaml(RetryPolicy().to_yaml()) == RetryPolicy()


def test_a_wrong_value_is_refused_in_one_sentence(subtests):
    for values, sentence in [
        ({"strategies": []}, "strategies is []; give a list of rules, such as [FeedbackRule()]"),
        (
            {"strategies": [{"use": "hope"}]},
            "strategies[0] is {'use': 'hope'}; give a list of rules, such as [FeedbackRule()]",
        ),
        (
            {"strategies": [{"use": "feedback", "temperature": 5}]},
            "strategies[0]: temperature is 5; give a number from 0 to 2, or None",
        ),
        (
            {"strategies": [{"use": "escalate"}]},
            "strategies[0]: model is missing; give a model specification",
        ),
        ({"transport": 3}, "transport is 3; give a TransportRetry, or an object with its fields"),
        ({"transport": {"max_attempts": 0}}, "transport: max_attempts is 0; Input should be greater than"),
    ]:
        with subtests.test(values=values):
            with pytest.raises(ConfigurationError) as caught:
                RetryPolicy(**values)

            assert str(caught.value).startswith(sentence)


def test_a_text_that_is_no_policy_is_refused(subtests):
    for text, sentence in [
        ("a: [", "the retry policy: line 1: this is not YAML of plain values"),
        (
            "policy.yaml",
            (
                "the retry policy is 'policy.yaml'; give an object such as {max_retries: 3}, "
                "or the Path of a file"
            ),
        ),
        ("max_retry: 1", "max_retry is not an argument of RetryPolicy; give any of max_retries,"),
        (
            "!!python/object/apply:os.system [ls]",
            "the retry policy: line 1: this is not YAML of plain values: could not determine",
        ),
    ]:
        with subtests.test(text=text):
            with pytest.raises(ConfigurationError) as caught:
                RetryPolicy.from_yaml(text)

            assert str(caught.value).startswith(sentence)
