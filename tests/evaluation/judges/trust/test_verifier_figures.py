"""Figures of a verifier: when answers agree, and from which share of approvals on a claim is made."""

from evaluation.judges.figures import (
    ClaimCount,
    VerifierFigures,
    count_agreeing,
    count_needed_claims,
    find_figures,
    save_figures,
)

CAPITAL = "What is the capital of Peru? Answer in one word."


def test_answers_agree_if_their_words_and_numbers_apart_from_the_task_are_the_same(subtests):
    for task, output, answer, agree in [
        (CAPITAL, "Lima", "The capital of Peru is Lima.", True),
        (CAPITAL, "lima.", "**Lima**", True),
        (CAPITAL, "Lima", "Cusco", False),
        (CAPITAL, "Lima", "It is not Lima.", False),
        ("What is 17 + 25?", "42", "17 + 25 = forty-two", True),
        ("What is 17 + 25?", "42", "-42", False),
        ("What does it cost?", "1,250.50", "1250.5", True),
        ("Is it red or blue?", "red", "blue", False),
        ("Give JSON.", '{"a": 1, "b": [2]}', '```json\n{"b": [2], "a": 1}\n```', True),
        ("Give JSON.", '{"a": 1}', '{"a": 2}', False),
        (CAPITAL, "", "", False),
    ]:
        with subtests.test(task=task, output=output, answer=answer):
            assert count_agreeing(task, output, [answer]) == agree


def figures(*counts: tuple[float, int, int], max_wrong: float = 0.05) -> VerifierFigures:
    return VerifierFigures("name", 200, max_wrong, tuple(ClaimCount(*count) for count in counts))


def test_the_threshold_is_the_lowest_share_down_to_which_the_bound_is_shown(subtests):
    for counts, threshold in [
        ([(1.0, 45, 0)], 1.0),
        ([(1.0, 44, 0)], None),
        ([(1.0, 76, 1)], 1.0),
        ([(1.0, 75, 1)], None),
        ([(0.8, 30, 0), (1.0, 50, 0)], 0.8),
        ([(1.0, 50, 0), (0.8, 0, 5), (0.6, 500, 0)], 1.0),
        ([(1.0, 10, 0), (0.8, 500, 0)], None),
        ([(0.0, 500, 0)], None),
        ([], None),
    ]:
        with subtests.test(counts=counts):
            assert figures(*counts).threshold == threshold


def test_precision_and_coverage_are_of_the_claims_alone():
    measured = figures((1.0, 50, 0), (0.8, 30, 1), (0.4, 5, 20))

    assert (measured.precision.successes, measured.precision.trials) == (80, 81)
    assert (measured.coverage.successes, measured.coverage.trials) == (81, 200)


def test_that_many_right_claims_show_a_bound_and_no_fewer(subtests):
    for max_wrong, needed in [(0.05, 45), (0.1, 22), (0.01, 230)]:
        with subtests.test(max_wrong=max_wrong):
            assert count_needed_claims(max_wrong) == needed
            assert figures((1.0, needed, 0), max_wrong=max_wrong).threshold == 1.0
            assert figures((1.0, needed - 1, 0), max_wrong=max_wrong).threshold is None


def test_figures_are_found_by_the_name_of_the_verifier(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    saved = figures((1.0, 50, 0))
    file = save_figures(saved)

    assert find_figures("name") == saved
    assert find_figures("another") is None

    file.write_text(file.read_text().replace('"right": 50', '"right": "many"'))
    assert find_figures("name") is None
