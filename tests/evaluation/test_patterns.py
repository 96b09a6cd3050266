import pytest

from evaluation.errors import ContractError
from evaluation.patterns import matches_pattern
from evaluation.sensitive.scanner import quote_text

UNSUPPORTED = [r"(?=a)b", r"(?<!a)b", r"(a)\1", r"(?P<n>a)(?P=n)", "a++", "(?>a)", "a{1001}"]


def test_what_would_need_backtracking_is_refused_with_what_is_accepted(subtests):
    for pattern in UNSUPPORTED:
        told = r"syntax of RE2 .*no lookahead or lookbehind, no back-reference"
        with subtests.test(pattern=pattern), pytest.raises(ContractError, match=told):
            matches_pattern(pattern, "")


def test_what_is_no_pattern_is_refused(subtests):
    for pattern in ["(", "[a", "*a", r"\Z", "\ud800("]:
        with subtests.test(pattern=pattern), pytest.raises(ContractError, match="cannot be used"):
            matches_pattern(pattern, "")


def test_a_pattern_is_looked_for_anywhere(subtests):
    for pattern, text, found in [
        (r"\d{3}", "ab123", True),
        (r"^\d{3}$", "ab123", False),
        ("refund", "REFUND", False),
        ("(?i)refund", "REFUND", True),
        ("東京.", "これは東京都", True),
        ("a.c", "a\ud800c", True),
        ("a.c", "a\nc", False),
        ("", "", True),
    ]:
        with subtests.test(pattern=pattern, text=text):
            assert matches_pattern(pattern, text) is found


def test_a_pattern_that_would_blow_up_by_backtracking_is_answered():
    assert matches_pattern("(x+x+)+y", "x" * 1_000_000) is False


def test_a_quotation_is_bounded_and_on_one_line():
    assert quote_text("a\nb") == r'"a\nb"'
    assert len(quote_text("x" * 1000)) == 62
