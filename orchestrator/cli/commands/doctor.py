"""``orchestrator doctor``."""

from __future__ import annotations

from orchestrator.cli.options import AsJson


def doctor(json: AsJson = False) -> None:
    """Check which models this machine can run.

    Exit status: 0 if a model can be used, 1 if none can.
    """
    from orchestrator.cli.doctor import report_models  # noqa: PLC0415 - slow to import

    report_models(json=json)
