from evaluation.texts.json_texts import read_json_values


def test_hostile_fences_take_linear_time():
    for part in ("```", "```{", "~~~\n", "```\n{}\n", '{"a":'):
        assert not [value for value in read_json_values(part * 20_000) if value]
