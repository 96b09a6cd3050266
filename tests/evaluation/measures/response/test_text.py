import pytest

from evaluation.checks.segmentation import has_phrase
from evaluation.measures.response_scores import (
    MAX_EDIT_COST,
    levenshtein_similarity,
    matching_cost,
    normalized_exact_match,
    rouge_1,
    split_words,
)

WORDS = [
    ("Order 12-34 isn't_here.", ["order", "12", "34", "isn", "t", "here"]),
    ("Naïve CAFÉ — Straße", ["naïve", "café", "strasse"]),
    ("Cafe\u0301", ["caf\u00e9"]),
    ("x\u0301y z", ["x\u0301y", "z"]),
    ("ＡＢＣ１２", ["abc12"]),
    ("co\u00adop ab\u200bcd", ["coop", "abcd"]),
    ("Αθήνα, МОСКВА", ["αθήνα", "москва"]),
    ("東京タワーです。", ["東", "京", "タ", "ワ", "ー", "で", "す"]),
    ("AIは楽しい", ["ai", "は", "楽", "し", "い"]),
    ("ดีครับ", ["ดี", "ค", "รั", "บ"]),
    ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
    ("مرحبا بالعالم ١٢", ["مرحبا", "بالعالم", "١٢"]),
    ("한국어 문장", ["한국어", "문장"]),
    ("?! … \u0301 \U0001f44d\ufe0f", []),
    ("", []),
]


def test_words_are_told_apart_in_every_script(subtests):
    for text, expected in WORDS:
        with subtests.test(text=text, expected=expected):
            assert split_words(text) == expected


SAME = [
    ("The answer is Paris.", "the answer is PARIS"),
    ("  two\n words ", "two words"),
    ("«Straße»", "strasse"),
    ("Cafe\u0301!", "caf\u00e9"),
    ("東京です。", "東京です"),
    ("**Paris**", "`Paris`"),
    ("\u22125 °C", "-5 °C"),
    ("1,786.", "1,786"),
    ("?!", "?!"),
    ("", ""),
]
DIFFERENT = [
    ("3.14", "314"),
    ("-5", "5"),
    ("it is -5", "it is 5"),
    ("5%", "5"),
    ("1/2", "12"),
    ("10-20", "1020"),
    ("$5", "5"),
    ("the answer", "answer"),
    ("?!", "!?"),
    ("...", ""),
    ("x²", "y2"),
    ("ab c", "a bc"),
    ("well-known", "wellknown"),
    ("ä.b", "ä b"),
]


def test_case_form_space_and_punctuation_make_no_difference(subtests):
    for output, reference in SAME:
        with subtests.test(output=output, reference=reference):
            assert normalized_exact_match(output, reference)


def test_numbers_words_and_mere_punctuation_do(subtests):
    for output, reference in DIFFERENT:
        with subtests.test(output=output, reference=reference):
            assert not normalized_exact_match(output, reference)


def test_a_keyword_is_covered_as_a_whole_word_with_its_symbols(subtests):
    for keyword, output, covered in [
        ("transit", "It is in TRANSIT.", True),
        ("art", "a party", False),
        ("in transit", "in the transit", False),
        ("in transit", "in  transit", True),
        ("東京", "これは東京都です", True),
        ("C++", "written in C++.", True),
        ("C++", "written in C.", False),
        ("50%", "a 50% share", True),
        ("50%", "50 shares", False),
        ("state-of-the-art", "a state-of-the-art way", True),
        ("\U0001f44d", "fine \U0001f44d", True),
        ("\U0001f44d", "fine", False),
    ]:
        with subtests.test(keyword=keyword, output=output):
            assert has_phrase(output, keyword) is covered


def test_only_equal_long_texts_have_an_edit_distance():
    length = 30_000

    assert matching_cost(length, length) > MAX_EDIT_COST
    assert levenshtein_similarity("a" * length, "b" * length) is None
    assert levenshtein_similarity("a" * 10_000_000, "a" * 10_000_000) == 1.0


def test_words_are_counted_in_any_order_and_as_often_as_both_have_them(subtests):
    for output, reference, f1 in [
        ("the gunman kill police", "police killed the gunman", 3 / 4),
        ("the the the", "the cat sat", 1 / 3),
        ("a b a b", "a b a b x", 8 / 9),
        ("", "a", 0.0),
    ]:
        with subtests.test(output=output):
            assert rouge_1(output.split(), reference.split()) == pytest.approx(f1)
