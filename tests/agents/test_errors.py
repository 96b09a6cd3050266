"""The tree of errors."""

import agents
from agents import errors


def test_every_error_has_one_root_stands_in_the_drawn_tree_and_is_public():
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]

    assert all(issubclass(kind, agents.AgentError) for kind in kinds)
    assert all(kind.__name__ in errors.__doc__ for kind in kinds)
    assert {kind.__name__ for kind in kinds} == {name for name in agents.__all__ if name.endswith("Error")}


def test_a_bad_model_spec_is_also_a_value_error():
    assert issubclass(agents.ModelSpecError, ValueError)
