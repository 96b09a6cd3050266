"""Texts for a terminal."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.cli.consoles import clean, format_usage, one_line
from orchestrator.state.records import NO_USAGE
from tests.fakes.records import usage


def test_nothing_but_text_newline_and_tab_is_left(subtests):
    for text, shown in [
        ("plain\n\ttext", "plain\n\ttext"),
        ("\x1b[31mred\x1b[0m", "[31mred[0m"),
        ("\x1b]0;title\x07after", "]0;titleafter"),
        ("\x9b2Jclear", "2Jclear"),
        ("over\rwritten\r\n", "overwritten\n"),
        ("back\x08space\x7f\x00", "backspace"),
        ("\u202edesrever\u2066", "desrever"),
        ("zero\u200bwidth\u2060 \ufeffspace", "zerowidth space"),
        ("left\u200eright\u200f\u061cmarks", "leftrightmarks"),
        ("soft\u00adhyphen", "softhyphen"),
        ("invisible\u2062times\u206f", "invisibletimes"),
        ("tags\U000e0049\U000e0047", "tags"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("ක්\u200dෂ", "ක්\u200dෂ"),
        ("👩🏽\u200d💻 ❤️\u200d🔥", "👩🏽\u200d💻 ❤️\u200d🔥"),
        ("\u0600١٢", "\u0600١٢"),
        ("half \ud800 pair", "half \ufffd pair"),
        ("שלום 🌊", "שלום 🌊"),
        ("[bold]:wave:[/bold]", "[bold]:wave:[/bold]"),
    ]:
        with subtests.test(text=text):
            assert clean(text) == shown


@given(st.text(alphabet=st.characters()))
def test_no_control_character_or_surrogate_survives_whatever_the_text(text):
    left = clean(text)

    assert {character for character in left if unicodedata.category(character) in ("Cc", "Cs")} <= {
        "\n",
        "\t",
    }


def test_one_line_has_no_break_and_keeps_its_limit(subtests):
    for text, shown in [(" two\n li\x85 ", "two li"), ("12345678", "12345678"), ("123456789", "1234567…")]:
        with subtests.test(text=text):
            assert one_line(text, limit=8) == shown


def test_usage_that_was_not_reported_is_called_missing_and_never_zero(subtests):
    for used, words in [
        (usage(12, 3.46), "12 tokens, 3.5 s"),
        (usage(0), "0 tokens, 1.0 s"),
        (usage(None), "tokens unknown, 1.0 s"),
        (NO_USAGE, "no model call, 0.0 s"),
    ]:
        with subtests.test(used=used):
            assert format_usage(used) == words
