"""GatedReplies: scripted replies of which one waits, so that a test sees a run while it is under way."""

import threading
from collections.abc import Sequence

WAITING = "Hello"


class GatedReplies:
    """Replies in their order; "Hello" sets ``reached`` and waits, at most 20 seconds, for ``opened``."""

    def __init__(self, *replies: str) -> None:
        self.replies = list(replies)
        self.opened = threading.Event()
        self.reached = threading.Event()

    def __call__(self, messages: Sequence[object]) -> str:
        reply = self.replies.pop(0)
        if reply == WAITING:
            self.reached.set()
            self.opened.wait(20)
        return reply
