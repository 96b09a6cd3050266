"""The exit statuses, in a module that loads at once."""

from __future__ import annotations

from typing import Final

FAILED: Final = 1
BAD_INPUT: Final = 2
WAITING: Final = 3
"""A run waits for a person's answer."""
INTERRUPTED: Final = 130
"""The status that a shell reports for a command ended by Ctrl-C."""
