"""Contracts name checks of the user's code: the ones that the caller passed."""

import pytest

from evaluation.checks.contract_checks import NamedCheck, check, find_check, require_checks
from evaluation.errors import ContractError


@check
def has_greeting(context):
    return True


def test_an_unknown_name_has_a_hint(subtests):
    for name, hint in [
        ("has_greetings", 'did you mean "has_greeting"?'),
        ("other", "pass it as checks=[...] or named_checks"),
    ]:
        with subtests.test(name=name):
            assert find_check(NamedCheck(name=name), [has_greeting]).startswith(
                f"no check has this name; {hint}"
            )


def test_what_is_no_list_of_checks_is_refused(subtests):
    for checks, problem in [
        ([lambda context: True], "checks has a function; give a list of functions with @check"),
        (has_greeting, "checks has a FunctionCheck"),
        ("has_greeting", "checks has a str"),
        ([has_greeting, has_greeting], 'checks has two checks with the name "has_greeting"'),
    ]:
        with subtests.test(checks=checks), pytest.raises(ContractError, match=problem.replace("[", r"\[")):
            require_checks(checks)
