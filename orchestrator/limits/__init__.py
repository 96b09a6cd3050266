"""Limits on the calls of models that all processes on one database keep together."""

from orchestrator.limits.shared_limits import read_limits, share_limits

__all__ = ["read_limits", "share_limits"]
