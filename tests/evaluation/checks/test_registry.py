"""Contracts name checks of the user's code: registered ones, or those of installed packages."""

import sys

import pytest

from evaluation.checks.commands import CommandCheck
from evaluation.checks.functions import check
from evaluation.checks.registry import NamedCheck, find_check, load_check, require_checks
from evaluation.errors import ContractError

PACKAGE = "from evaluation import check\n\n@check\ndef greets(context):\n    return True\n"


@check
def has_greeting(context):
    return True


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Returns a function that installs a package with entry points for one test."""

    def install_package(points):
        folder = tmp_path / "greetings-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: greetings\nVersion: 1.0\n")
        lines = [f"{name} = {value}" for name, value in points.items()]
        (folder / "entry_points.txt").write_text("\n".join(["[evaluation.checks]", *lines]))
        (tmp_path / "greetings.py").write_text(PACKAGE)
        (tmp_path / "greetings_that_exit.py").write_text("raise SystemExit(0)")
        monkeypatch.syspath_prepend(tmp_path)

    load_check.cache_clear()
    yield install_package
    load_check.cache_clear()
    sys.modules.pop("greetings", None)


def test_a_registered_check_is_found_by_its_name(install):
    assert find_check(NamedCheck(name="has_greeting"), [has_greeting]) is has_greeting


def test_a_check_of_an_installed_package_is_loaded_when_a_contract_names_it(install):
    install({"greets": "greetings:greets"})

    assert isinstance(find_check(NamedCheck(name="other"), []), str)
    assert "greetings" not in sys.modules
    assert find_check(NamedCheck(name="greets"), []) is sys.modules["greetings"].greets


def test_a_contract_of_a_model_finds_registered_checks_alone(install):
    install({"greets": "greetings:greets"})
    named = NamedCheck(name="greets", entry_points=False)

    assert find_check(named, []) == "no check has this name; pass it as checks=[...] or named_checks=[...]"
    assert find_check(NamedCheck(name="has_greeting", entry_points=False), [has_greeting]) is has_greeting


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("no_such_module_here:check", "its package cannot be imported: ModuleNotFoundError: No module named"),
        ("greetings_that_exit:check", "its package cannot be imported: SystemExit: 0"),
        ("greetings:__name__", "its entry point is no check; decorate the function with @check"),
    ],
)
def test_an_unusable_entry_point_has_a_problem(install, value, problem):
    install({"greets": value})

    assert problem in find_check(NamedCheck(name="greets"), [])


@pytest.mark.parametrize("named", [{"name": "has_greetings"}, {"name": "has_greting", "entry_points": False}])
def test_a_misspelt_name_has_a_similar_one_of_the_callers_checks(install, named):
    assert 'did you mean "has_greeting"?' in find_check(NamedCheck(**named), [has_greeting])


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
