from __future__ import annotations

from typing import get_args, get_type_hints

import pytest

from orchestrator import Budget, ConfigurationError, OrchestratorOptions, RetryPolicy, SupervisionPolicy
from orchestrator.cli.run_options import RunOptions
from orchestrator.settings import CHECKED
from tests.fakes.runs import build, refused_with
from tests.orchestrator import options_page

COUNT = "give a whole number of at least 0 and below 2**63"
POSITIVE = "give a whole number of at least 1 and below 2**63"
BOUND = "give a number above 0, or leave it out for no bound"
PRICES = "give {'model name': Price(input_usd=..., output_usd=...)}"


def test_a_refusal_names_the_setting_its_value_and_the_accepted_values(subtests):
    for model, arguments, sentence in [
        (Budget, {"max_seconds": 0}, f"max_seconds is 0; {BOUND}"),
        (Budget, {"max_cost_usd": 1}, "max_cost_usd is given without prices; add prices={'model name': Pri"),
        (Budget, {"prices": {"m": 3}}, f"prices is 3; {PRICES}"),
        (RetryPolicy, {"max_retries": -1}, f"max_retries is -1; {COUNT}"),
        (RetryPolicy, {"max_retries": 2**70}, f"max_retries is {2**70}; {COUNT}"),
        (SupervisionPolicy, {"max_reorient_attempts": 0}, f"max_reorient_attempts is 0; {POSITIVE}"),
        (SupervisionPolicy, {"human": "yes"}, "human is 'yes'; give True or False"),
    ]:
        with subtests.test(model=model, arguments=arguments), refused_with(sentence):
            model(**arguments)


MODELS = [Budget, RetryPolicy, CHECKED, SupervisionPolicy]


def test_every_setting_says_what_it_accepts(subtests):
    for model in MODELS:
        with subtests.test(model=model):
            required = {name: 1.0 for name, field in model.model_fields.items() if field.is_required()}
            for name in {*model.model_fields} - {"supervision"}:
                with pytest.raises(ConfigurationError, match=f"^{name} is .*; give (?!None)"):
                    model(**{**required, name: object()})


def test_max_retries_can_be_given_as_an_argument_or_in_the_policy(subtests):
    for arguments, expected in [
        ({}, 2),
        ({"max_retries": 5}, 5),
        ({"retry_policy": RetryPolicy(max_retries=1)}, 1),
        ({"max_retries": 5, "retry_policy": RetryPolicy(judge_attempts=3)}, 5),
        ({"max_retries": 0, "retry_policy": RetryPolicy(max_retries=0)}, 0),
    ]:
        with subtests.test(arguments=arguments):
            settings = build(**arguments).settings

            assert settings.max_retries == settings.options["retry_policy"].max_retries == expected


def test_the_page_of_the_options_has_their_types_and_defaults():
    assert options_page.read_table() == options_page.build_table()


def test_an_option_of_the_command_line_has_the_type_of_the_option_of_its_name():
    fields, types = RunOptions.model_fields, get_type_hints(OrchestratorOptions)
    others = {"checks", "acting_tools", "retry_policy"}
    shared = [name for name in options_page.list_flags() if name not in others]

    assert len(shared) > 5
    for name in shared:
        assert {*_list_types(fields[name].annotation)} <= {*_list_types(types[name]), types[name], type(None)}


def _list_types(annotation):
    parts = get_args(annotation)
    return [annotation] if not parts or isinstance(parts[0], str) else parts
