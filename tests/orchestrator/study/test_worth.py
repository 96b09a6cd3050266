import itertools
import math
from collections import Counter
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.judges.figures import compute_trust
from orchestrator.errors import ConfigurationError
from orchestrator.study.trial_outcomes import Terms, Trial, TriedAttempt
from orchestrator.study.worth import estimate_worth

ATTEMPTS = st.builds(TriedAttempt, accepted=st.booleans(), right=st.booleans(), tokens=st.integers(0, 90))
TASKS = st.lists(st.lists(ATTEMPTS, min_size=2, max_size=4), min_size=1, max_size=4)


def tried(code, **fields):
    """An attempt: right ("R", "r"), wrong ("W", "w") or without a label ("!", "?"); the second is refused."""
    return TriedAttempt(code.isupper() or code == "!", None if code in "?!" else code in "Rr", **fields)


def samples(*tasks, **fields):
    """Independent trials of tasks: `samples("Rw", "WW")`."""
    return [Trial(str(task), [tried(code, **fields)]) for task, codes in enumerate(tasks) for code in codes]


def sequences(*runs):
    return [Trial(str(task), [tried(code) for code in codes]) for task, codes in enumerate(runs)]


def enumerate_order(order, k):
    """Right, wrong, attempts and tokens of an order of attempts, if at most k are made."""
    made = list(itertools.takewhile(lambda each: not each.accepted, order[:k]))
    made += [each for each in order[len(made) : k][:1] if each.accepted]
    right, wrong = (made[-1].accepted and made[-1].right is known for known in (True, False))
    return right, wrong, len(made), sum(each.tokens for each in made)


@settings(max_examples=30)
@given(TASKS)
def test_independent_trials_and_their_changes_are_averaged_over_all_orders(tasks):
    worth = estimate_worth(Trial(str(n), [each]) for n, task in enumerate(tasks) for each in task)

    for point in worth.points:
        orders = [[*itertools.permutations(task)] for task in tasks if len(task) >= point.k]
        ends = [
            [fmean(each) for each in zip(*(enumerate_order(order, point.k) for order in every), strict=True)]
            for every in orders
        ]
        figures = (point.right.value, point.wrong.value, point.attempts, point.tokens)
        assert figures == pytest.approx([fmean(each) for each in zip(*ends, strict=True)])
        assert point.tasks == len(ends)
        if point.k > 1:
            counts = Counter()
            for every in orders:
                for *before, last, then in (order[: point.k] for order in every):
                    if not any(each.accepted for each in (*before, last)):
                        counts[last.right, then.right] += 1 / len(every)
            changes = point.changes
            found = (changes.wrong - changes.corrected, changes.corrected, changes.spoiled)
            wanted = (counts[False, False], counts[False, True], counts[True, False])
            assert (*found, changes.right - changes.spoiled) == pytest.approx((*wanted, counts[True, True]))


def test_attempts_in_sequence_are_read_from_their_beginning(subtests):
    first, second, third = estimate_worth(sequences("wrR", "wW", "R", "rww")).points

    for point, figures in ((first, (0.25, 0.0, 1)), (second, (0.25, 0.25, 1.75)), (third, (0.5, 0.25, 2.25))):
        with subtests.test(k=point.k):
            assert (point.right.value, point.wrong.value, point.attempts) == figures
    assert (second.changes.wrong, second.changes.corrected, second.changes.spoiled) == (2, 1, 1)
    assert second.pass_at_k is None


def test_attempts_in_sequence_are_estimated_as_far_as_each_refused_run_goes():
    assert len(estimate_worth(sequences("wwwW", "ww")).points) == 2
    stopped = Trial("stopped", [tried("w")], stopped=True)
    assert len(estimate_worth([*sequences("wwwW"), stopped]).points) == 4


def test_a_run_of_several_steps_is_accepted_if_each_step_is():
    def run(*steps):
        return Trial("task", [tried(code, step=n) for n, codes in enumerate(steps) for code in codes])

    points = estimate_worth([run("wR", "R"), run("R", "ww")]).points
    assert [(point.right.value, point.attempts) for point in points] == [(0.0, 1.5), (0.5, 3.0)]


def test_only_the_answer_of_a_run_with_steps_needs_a_label():
    def run(task, first, last):
        return Trial(task, [*(tried(code) for code in first), *(tried(code, step=1) for code in last)])

    worth = estimate_worth([run("a", "?!", "R"), run("b", "!", "wR"), run("c", "??", "!")], at_most_wrong=0.5)
    assert (worth.basis, [point.right.value for point in worth.points]) == ("labels", [0.0, 2 / 3])
    assert (worth.guarantee.answered, worth.guarantee.unanswered) == (2, 1.0)


def test_the_value_subtracts_losses_and_costs(subtests):
    trials = samples("RW", cost_usd=0.5)
    for terms, value in [
        (Terms(value=1, loss=3, cost_per_attempt=0.02), 0.5 - 1.5 - 0.02),
        (Terms(value=2, loss=0, cost_per_attempt=0), 1.0),
        (Terms(value=2, loss=0, cost_per_attempt=9, in_usd=True), 0.5),
    ]:
        with subtests.test(terms=terms):
            assert estimate_worth(trials, terms).points[0].value.value == pytest.approx(value)


def measured_judge(accepted, refused, count=200):
    """The figures of a judge that accepts so many wrong outputs, and refuses so many right ones."""
    wrong = ["accepted"] * accepted + ["refused"] * (count - accepted)
    right = ["refused"] * refused + ["accepted"] * (count - refused)
    kinds = [("plain", verdict) for verdict in wrong] + [("right", verdict) for verdict in right]
    return compute_trust("judge", kinds)


def test_the_figures_of_a_judge_stand_for_labels_with_their_bounds():
    """Of 100 attempts, 50 right, a judge that errs in 10 % accepts 45 right ones and 5 wrong ones."""
    codes = ["?!"] * 50 + ["??"] * 25 + ["!!"] * 25
    judges = [measured_judge(count // 10, count // 10, count) for count in (50, 5000)]
    wide, narrow = (estimate_worth(samples(*codes), judge=judge) for judge in judges)

    point = narrow.points[0]
    assert narrow.basis == "figures of a judge"
    assert (point.right.value, point.wrong.value) == pytest.approx((0.45, 0.05))
    spans = [each.points[0].right.high - each.points[0].right.low for each in (wide, narrow)]
    assert spans[0] > spans[1] > 0
    assert narrow.recommendation.more_tasks is None


def test_without_labels_and_judge_only_acceptances_are_estimated():
    worth = estimate_worth(samples(*["!?"] * 3))

    point = worth.points[0]
    assert (worth.basis, point.right, point.value, point.none.value) == ("nothing", None, None, 0.5)
    assert worth.recommendation.sentence == "Cannot be told: what is right is not known; give --truth."


def test_a_number_of_attempts_is_recommended_if_the_tasks_tell(subtests):
    for trials, attempts, sentence in [
        (samples(*["wR"] * 30, *["RR"] * 5), 2, "Use up to 2 attempts: the value of a task changes by +0."),
        (samples(*["wW"] * 30, *["RR"] * 5), 1, "Stop after the first: with a second, the value"),
        (samples(*["RR"] * 30), 1, "Stop after the first: no attempt was refused."),
        (samples("wR", "wW", "wR", "ww", "Rw"), None, " more tasks would tell; with up to 2 attempts"),
    ]:
        with subtests.test(sentence):
            recommended = estimate_worth(trials).recommendation
            assert recommended.attempts == attempts
            assert sentence in recommended.sentence
            assert (recommended.more_tasks is None) == (attempts is not None)


def test_the_sentence_of_an_attempt_says_what_it_corrects_and_spoils():
    *_, sentence, _ = estimate_worth(sequences(*["wR"] * 31, *["ww"] * 69, *["rR"] * 24, "rw")).sentences
    assert sentence.startswith(
        "a second attempt corrects 31 of 100 wrong answers and spoils 4 of 100 right ones that were refused; "
        "it pays: the value of a task changes by +0."
    )


def test_the_strategies_are_compared_after_each_kind_of_failure():
    def run(task, use, end):
        return Trial(task, [tried("w", kinds=("format",)), tried(end, use=use)])

    trials = [run(str(task), "feedback", "R") for task in range(9)]
    trials += [run(str(task), "resample", "w") for task in range(9, 18)]
    trials += [Trial("0", [tried("R")])]
    worth = estimate_worth(trials)
    found = {(each.kind, each.use): (each.tasks, each.success.value) for each in worth.follow_ups}

    figures = {"feedback": (9, 1.0), "resample": (9, 0.0), "another run": (1, 1.0)}
    assert found == {("format", use): each for use, each in figures.items()}
    assert "after a failure of format, feedback is better than resample" in worth.sentences
    assert "after a failure of format, another run is not told apart from feedback" in worth.sentences


def test_a_guarantee_counts_each_task_once_and_needs_enough_of_them(subtests):
    for tasks, answered, wrong, cells in [
        (["RR"] * 28, 28, 0, ()),
        (["RR"] * 29, 29, 0, (("checked", 1), ("checked", 2))),
        (["RR"] * 29 + ["wW"] * 5, 29, 0, (("checked", 1),)),
        (["RW"] * 15 + ["WR"] * 15, 30, 15, ()),
    ]:
        with subtests.test(tasks=len(tasks), cells=cells):
            guarantee = estimate_worth(samples(*tasks, verdict="checked"), at_most_wrong=0.1).guarantee
            assert (guarantee.answered, guarantee.wrong, guarantee.needed) == (answered, wrong, 29)
            assert guarantee.cells == cells


def test_a_guarantee_says_first_how_much_has_to_be_left_unanswered():
    guarantee = estimate_worth(samples(*["RR"] * 45, *["ww"] * 55), at_most_wrong=0.1).guarantee
    assert guarantee.sentence.startswith("At least 50% of the tasks have to be left unanswered; accept")


def test_input_that_tells_nothing_is_refused(subtests):
    labelled, accepted = samples("RW", "Rw"), samples("!!")
    for trials, options, words in [
        (samples("R", "w"), {}, "one attempt a task, so nothing to estimate; record at least two trials"),
        (sequences("w", "wwW"), {}, "nothing to estimate"),
        ([], {}, "nothing to estimate"),
        ([*labelled, Trial("2", [TriedAttempt(True)])], {}, "3 of 4 accepted answers are known"),
        (labelled, {"judge": measured_judge(1, 1)}, "label all of them, or none and give the figures"),
        (labelled, {"at_most_wrong": 1.5}, "give a share between 0 and 1"),
        (accepted, {"at_most_wrong": 0.1}, "a guarantee rests on labels, and right and wrong on nothing"),
        (accepted, {"judge": measured_judge(150, 90)}, "measure it with more outputs"),
    ]:
        with subtests.test(words), pytest.raises(ConfigurationError, match=words):
            estimate_worth(trials, **options)


@pytest.mark.parametrize("field", ["value", "loss", "cost_per_attempt"])
@pytest.mark.parametrize("number", [-1.0, math.inf, math.nan, 1e308, "1"])
def test_a_term_that_is_no_usable_number_is_refused(field, number):
    with pytest.raises(ConfigurationError, match=rf"{field} is .* give a number from 0 to"):
        Terms(**{field: number})


def test_a_step_ends_at_its_acceptance():
    """What a record has behind it was not asked for."""
    more = [TriedAttempt(True, True), TriedAttempt(True, False)]
    trials = [Trial(f"{n}", more) for n in range(5)] + [Trial("6", [TriedAttempt(False, False)] * 2)]
    worth = estimate_worth(trials)
    assert [point.wrong.value for point in worth.points] == [0.0, 0.0]


def test_the_number_of_attempts_that_cannot_be_told_is_named():
    """A second attempt is a loss for certain here; only one task has a third."""
    refused, wrong, right = TriedAttempt(False), TriedAttempt(True, False), TriedAttempt(True, True)
    twice = [Trial(f"{n}", [each]) for n in range(30) for each in (refused, wrong)]
    worth = estimate_worth([*twice, *(Trial("more", [each]) for each in (refused, refused, right))])
    found = worth.recommendation
    assert found.attempts is None
    assert found.more_tasks > 0
    assert f"{found.more_tasks} more tasks would tell; with up to 3 attempts, the value" in found.sentence


def test_what_is_no_verdict_is_refused(subtests):
    for fields in ({"accepted": "no"}, {"accepted": True, "right": "no"}, {"accepted": True, "tokens": "1"}):
        with subtests.test(fields=fields), pytest.raises(ValueError, match=[*fields][-1]):
            TriedAttempt(**fields)
    with pytest.raises(ValueError, match="Trial"):
        Trial("task", [])
