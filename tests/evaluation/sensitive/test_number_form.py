import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.sensitive.european_numbers import NUMBERS as EUROPEAN
from evaluation.sensitive.number_form import widened
from evaluation.sensitive.other_numbers import NUMBERS as OTHER

FORMS = [one.form for one in (*EUROPEAN, *OTHER) if one.form]


@pytest.mark.parametrize("form", FORMS)
@given(data=st.data())
def test_a_widened_form_matches_whatever_the_form_matches(form, data):
    text = data.draw(st.from_regex(form, fullmatch=True))

    assert re.fullmatch(widened(form), text)


@pytest.mark.parametrize(
    ("form", "wide"),
    [
        (r"[A-CEGHJ-P][0-9]{2} ?[A-D]", "[A-Z][0-9]{2} ?[A-Z]"),
        (r"(?:19|20)?[0-3][01]{6}[\-+][0-9Kk]", r"(?:[0-9][0-9]|[0-9][0-9])?[0-9][0-9]{6}[\-+][0-9A-Za-z]"),
        (r"756\.[0-9]{4}P", r"[0-9][0-9][0-9]\.[0-9]{4}[A-Z]"),
    ],
)
def test_a_digit_becomes_any_digit_and_a_letter_any_letter(form, wide):
    assert widened(form) == wide
