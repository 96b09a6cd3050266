"""The exit statuses of a command."""

from __future__ import annotations

from typing import Final

FAILED: Final = 1
BAD_INPUT: Final = 2
WAITING: Final = 3
"""A run waits for a person's answer."""
