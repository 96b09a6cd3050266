"""Contracts name checks of the user's code: registered ones, or those of installed packages."""

import sys
from importlib.metadata import EntryPoint

import pytest

from evaluation.checks import registry
from evaluation.checks.commands import CommandCheck
from evaluation.checks.functions import check
from evaluation.checks.registry import NamedCheck, find_check, require_checks
from evaluation.errors import ContractError


@check
def has_greeting(context):
    return True


@pytest.fixture
def installed(monkeypatch):
    """Installs entry points for one test; returns the mapping from names to values."""
    values = {}

    def entry_points(*, group, name=None):
        assert group == "evaluation.checks"
        return [EntryPoint(key, value, group) for key, value in values.items() if name in {None, key}]

    monkeypatch.setattr(registry, "entry_points", entry_points)
    registry.load_check.cache_clear()
    yield values
    registry.load_check.cache_clear()


def test_a_registered_check_is_found_by_its_name(installed):
    assert find_check(NamedCheck(name="has_greeting"), [has_greeting]) is has_greeting


def test_a_check_of_an_installed_package_is_loaded_when_a_contract_names_it(installed):
    installed["greets"] = f"{__name__}:has_greeting"
    installed["unused"] = "no_such_module_here:check"

    assert find_check(NamedCheck(name="greets"), []) is has_greeting
    assert "no_such_module_here" not in sys.modules


def test_a_contract_of_a_model_finds_registered_checks_alone(installed):
    installed["greets"] = f"{__name__}:has_greeting"
    named = NamedCheck(name="greets", entry_points=False)

    assert find_check(named, []) == "no check has this name; pass it as checks=[...] or named_checks=[...]"
    assert find_check(NamedCheck(name="has_greeting", entry_points=False), [has_greeting]) is has_greeting


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("no_such_module_here:check", "its package cannot be imported: ModuleNotFoundError: No module named"),
        (f"{__name__}:pytest", "its entry point is no check; decorate the function with @check"),
    ],
)
def test_an_unusable_entry_point_has_a_problem(installed, value, problem):
    installed["greets"] = value

    assert problem in find_check(NamedCheck(name="greets"), [])


def test_an_unknown_name_has_a_problem_with_a_similar_one(installed):
    assert 'did you mean "has_greeting"?' in find_check(
        NamedCheck(name="has_greting", entry_points=False), [has_greeting]
    )


@pytest.mark.parametrize(
    ("checks", "problem"),
    [
        ([lambda context: True], "checks has a function; give a list of functions with @check"),
        (has_greeting, "checks has a FunctionCheck"),
        ("has_greeting", "checks has a str"),
        ([has_greeting, has_greeting], 'checks has two checks with the name "has_greeting"'),
        (
            [CommandCheck(["a"], "."), CommandCheck(["a", "b"], ".")],
            'checks has two checks with the name "a"',
        ),
    ],
)
def test_what_is_no_list_of_checks_is_refused(checks, problem):
    with pytest.raises(ContractError, match=problem.replace("[", r"\[")):
        require_checks(checks)
