"""The types of plain rules, policies and searches have the fields of their models."""

from __future__ import annotations

from typing import Required, get_args, get_origin, get_type_hints

import pytest

from agents import TransportRetry
from orchestrator import ModelPrice, Objective, RetryPolicy, SearchBudget, StallRules, TuneSpec
from orchestrator.retry import plain_rules
from orchestrator.retry.rules import RetryRule
from orchestrator.tuning import spec

RULES = get_args(get_args(RetryRule)[0])
MODELS = [*RULES, RetryPolicy, StallRules, Objective, SearchBudget, ModelPrice, TuneSpec]


@pytest.mark.parametrize("model", MODELS)
def test_a_plain_type_has_the_fields_of_its_model(model):
    plain = find_type(model)
    types = get_type_hints(plain, include_extras=True)
    written = {name for name, kind in types.items() if get_origin(kind) is Required}
    required = {name for name, field in model.model_fields.items() if field.is_required()}

    assert types.keys() == model.model_fields.keys()
    assert written | plain.__required_keys__ - {"use"} == required


def test_every_rule_is_in_the_union():
    assert {*get_args(plain_rules.RetryRuleDict)} == {find_type(rule) for rule in RULES}


def test_the_retries_of_a_transport_have_their_fields():
    assert plain_rules.TransportRetryDict.__optional_keys__ == {*TransportRetry.__dataclass_fields__}


def find_type(model):
    name = f"{model.__name__}Dict"
    return getattr(plain_rules, name, None) or getattr(spec, name)
