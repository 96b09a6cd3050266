"""Treatments of tools that act."""

from __future__ import annotations

from agents import ActingTool


def approve(*names):
    """The option ``acting_tools`` by which a person approves each call of these tools."""
    return {name: ActingTool(approve=True) for name in names}
