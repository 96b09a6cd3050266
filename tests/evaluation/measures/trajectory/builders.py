"""Short names for actions, steps and matches."""

from evaluation.contract.run import ExpectedAction, TrajectoryRules
from evaluation.measures.trajectory.expected_steps import ExpectedStep
from evaluation.measures.trajectory.matching import match_trajectory
from tests.evaluation.actions import observed


def seen(name="a", args=None, *, failed=False, **rest):
    return observed(name, args=args, error="error" if failed else None, **rest)


def step(name="a", args=None, *, optional=False, rule=None, **rest):
    return ExpectedStep((ExpectedAction(name=name, args=args, arguments=rule, **rest),), optional)


def either(*steps, optional=False):
    return ExpectedStep(tuple(pattern for item in steps for pattern in item.patterns), optional)


def match(actual, expected, mode="in_order", recorded=(), **rules):
    return match_trajectory(
        [seen(item) if isinstance(item, str) else item for item in actual],
        [step(item) if isinstance(item, str) else item for item in expected],
        mode,
        TrajectoryRules.model_validate(rules),
        recorded,
    )
