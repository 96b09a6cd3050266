"""JSON values in texts."""

from evaluation.texts.json_texts import read_json_in_prose, read_json_values


def test_too_many_objects_in_prose_are_left_open():
    assert read_json_in_prose('{"a": 1} ' * 1_000) == [{"a": 1}] * 1_000
    assert read_json_in_prose('{"a": 1} ' * 1_001) is None


def test_hostile_fences_take_linear_time():
    for part in ("```", "```{", "~~~\n", "```\n{}\n", '{"a":'):
        assert not [value for value in read_json_values(part * 20_000) if value]
