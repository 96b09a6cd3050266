"""Short names for actions, steps and matches."""

from types import MappingProxyType

from evaluation.inputs.trajectory_rules import ArgumentRule, TrajectoryRules
from evaluation.metrics.trajectory import match_trajectory
from evaluation.metrics.trajectory.actions import ActionPattern, ExpectedStep, ObservedAction

NOTHING = MappingProxyType({})


def seen(name="a", args=None, **rest):
    return ObservedAction(name, args, **rest)


def step(name="a", args=None, *, optional=False, rule=None, **rest):
    arguments = None if rule is None else ArgumentRule(**rule)
    return ExpectedStep((ActionPattern(name, args, arguments, **rest),), optional)


def either(*steps, optional=False):
    return ExpectedStep(tuple(pattern for item in steps for pattern in item.patterns), optional)


def match(actual, expected, mode="in_order", functions=NOTHING, **rules):
    return match_trajectory(
        [seen(item) if isinstance(item, str) else item for item in actual],
        [step(item) if isinstance(item, str) else item for item in expected],
        mode,
        TrajectoryRules.model_validate(rules),
        functions,
    )
