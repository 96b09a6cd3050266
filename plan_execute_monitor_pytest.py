"""The options of the pytest plugin. Without ``--evalset``, it imports nothing else.

A module of its own, because pytest loads it in every project, also in one whose packages hide ours.
"""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("evalset", "cases of plan-execute-monitor")
    group.addoption(
        "--evalset",
        action="append",
        metavar="FILE",
        help="Collect a test for each run of each case of this file (repeatable).",
    )
    group.addoption(
        "--evalset-target",
        metavar="MODULE:NAME",
        help="What executes the cases: a function of the task, or an orchestrator. This runs its code.",
    )
    group.addoption(
        "--evalset-model",
        metavar="SPEC",
        default="local",
        help="Without a target: the model of the orchestrator. Default: local.",
    )
    group.addoption(
        "--evalset-judge", metavar="SPEC", help="Ask this model what no program can decide. Default: none."
    )
    group.addoption(
        "--evalset-require",
        choices=("checked", "judged", "approved"),
        help="What a test that passes has to rest on.",
    )
    group.addoption(
        "--evalset-fail-on",
        choices=("warning", "needs_review", "failed"),
        default="needs_review",
        help="The least severe status that fails a test. Default: needs_review.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the collection of cases if a file is given.

    Raises:
        pytest.UsageError: A package of the project hides one of ours.
    """
    if not config.getoption("evalset"):
        return
    try:
        from orchestrator.study import case_items  # noqa: PLC0415 - the project may hide it
    except ImportError as error:
        raise pytest.UsageError(
            f"--evalset finds another package than one of plan-execute-monitor ({error}); rename your own"
        ) from None
    config.pluginmanager.register(case_items)
