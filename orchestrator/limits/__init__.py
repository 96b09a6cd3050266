"""Limits on the calls of models that all processes on one database keep together."""

from orchestrator.limits.shared_limits import share_limits

__all__ = ["share_limits"]
