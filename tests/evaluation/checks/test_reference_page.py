from tests.evaluation.checks.ifeval import TO_CHECKS, load_official
from tests.evaluation.checks.reference import build_table, read_table


def test_the_table_of_checks_is_current():
    assert read_table() == build_table(), "python -m tests.evaluation.checks.reference writes it"


def test_each_kind_of_ifeval_can_be_said_unless_it_is_a_form_of_ifeval_alone():
    assert set(load_official()) - set(TO_CHECKS) == {
        "change_case:capital_word_frequency",
        "combination:repeat_prompt",
        "combination:two_responses",
        "detectable_content:number_placeholders",
        "detectable_content:postscript",
        "detectable_format:multiple_sections",
        "detectable_format:number_highlighted_sections",
        "detectable_format:title",
        "length_constraints:nth_paragraph_first_word",
        "length_constraints:number_paragraphs",
        "startend:quotation",
    }
