from evaluation.checks import CHECKS
from tests.evaluation.checks.cases import CASES, evaluate


def test_each_kind_has_cases_in_several_scripts(subtests):
    for name in sorted(CHECKS.keys() - {"tool_calls", "sourced_facts"}):
        with subtests.test(name=name):
            texts = "".join(
                text for data, right, wrong in CASES for text in right + wrong if data["check"] == name
            )

            assert any(character in "äöüßÄÖÜ" for character in texts), "German"
            assert any("\u4e00" <= character <= "\u9fff" for character in texts), "Chinese"
            assert any("\u0600" <= character <= "\u06ff" for character in texts), "Arabic"
            assert any(character > "\U0001f000" for character in texts), "emoji"


def test_a_text_in_two_languages_is_in_neither():
    german = "Das Wetter ist heute wirklich sehr gut, und wir gehen in den Park."
    english = "The weather is really good today, and we are going to the park."

    for code in ("de", "en"):
        assert evaluate({"check": "language", "code": code}, f"{german}\n{english}").passed is False


def test_sentences_of_another_language_are_named_also_if_they_are_few_enough(subtests):
    for french, passed in [(2, False), (6, True)]:
        with subtests.test(french=french):
            english = "The weather is nice today, and we go out."
            text = "Le chat dort sur la table depuis ce matin. " * french + english
            outcome = evaluate({"check": "language", "code": "fr"}, text)

            assert outcome.passed is passed
            assert outcome.seen == f'the text is probably in French, but not "{english}"'


def test_an_empty_output_fulfils_no_check(subtests):
    for data in [case[0] for case in CASES]:
        for output in ["", " \n\t"]:
            with subtests.test(data=data, output=output):
                assert evaluate(data, output).passed is False


def test_a_lone_surrogate_breaks_no_check():
    for data, *_ in CASES:
        evaluate(data, "a \ud800 b", "a \udfff")
