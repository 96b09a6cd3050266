"""Short names for actions, steps and matches."""

from evaluation.contract.contract import ExpectedAction, TrajectoryRules
from evaluation.measures.trajectory_matching import match_trajectory
from tests.evaluation.actions import observed


def seen(name="a", args=None, *, failed=False, **rest):
    return observed(name, args=args, error="error" if failed else None, **rest)


def step(name="a", args=None, *, rule=None, **rest):
    return ExpectedAction(name=name, args=args, arguments=rule, **rest)


def either(*steps):
    return ExpectedAction(any_of=[*steps])


def match(actual, expected, mode="in_order", **rules):
    return match_trajectory(
        [seen(item) if isinstance(item, str) else item for item in actual],
        [step(item) if isinstance(item, str) else item for item in expected],
        mode,
        TrajectoryRules.model_validate(rules),
    )
