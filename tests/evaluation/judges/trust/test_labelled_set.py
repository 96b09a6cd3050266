"""The bundled set of labelled outputs: its form, its balance, and that no text is in it twice."""

from collections import Counter

from evaluation.judges.figures import load_labelled_set

OUTPUTS = load_labelled_set()
SUBTLE_FAULTS = {"number", "negation", "missing", "unit", "order", "fabricated"}
FAULTS = {
    "right": {"none"},
    "subtle": SUBTLE_FAULTS,
    "plain": {"off_topic", "empty", "refusal", "repetition"},
    "injected": {"injection"},
}


def test_it_has_at_least_120_outputs_and_about_two_fifths_are_right():
    right = sum(output.kind == "right" for output in OUTPUTS)

    assert len(OUTPUTS) >= 120
    assert 0.35 <= right / len(OUTPUTS) <= 0.45


def test_no_name_and_no_task_is_in_it_twice(subtests):
    for field in ["id", "task"]:
        with subtests.test(field=field):
            assert max(Counter(getattr(output, field).casefold().strip() for output in OUTPUTS).values()) == 1


def test_no_output_is_in_it_twice_and_only_a_repetition_is_a_task():
    outputs = [output.output.casefold().strip() for output in OUTPUTS]
    tasks = {output.task.casefold().strip() for output in OUTPUTS}

    assert len(set(outputs)) == len(outputs)
    assert {output.fault for output in OUTPUTS if output.output.casefold().strip() in tasks} <= {"repetition"}


def test_each_kind_has_its_faults_and_is_divided_evenly(subtests):
    for kind, faults in FAULTS.items():
        with subtests.test(kind=kind):
            members = [output for output in OUTPUTS if output.kind == kind]
            halves = Counter(output.half for output in members)

            assert {output.fault for output in members} == faults
            assert abs(halves["tuning"] - halves["held_out"]) <= 1


def test_its_beginning_is_a_fair_sample():
    first = Counter(output.kind for output in OUTPUTS[:30])

    assert abs(first["right"] - 12) <= 1
    assert first.keys() == FAULTS.keys()
    assert {"tuning", "held_out"} == {output.half for output in OUTPUTS[:30]}
