"""Fake compressors, in each of the forms that are accepted."""

from __future__ import annotations

from tests.fakes.answers import Answers


class FakeCompressor:
    """A compressor with ``invoke``.

    Attributes:
        texts: What it was given to shorten.
    """

    def __init__(self, *answers):
        self.texts: list[str] = []
        self._answers = Answers(answers, lambda text: f"short({len(text)})")

    def invoke(self, text):
        return self._shorten(text)

    def _shorten(self, text):
        self.texts.append(text)
        return self._answers.next(text)


class AsyncFakeCompressor(FakeCompressor):
    """The same as a coroutine method under the plain name."""

    async def invoke(self, text):
        return self._shorten(text)


class RunCompressor:
    """A compressor with ``_run`` only."""

    def __init__(self):
        self.texts: list[str] = []

    def _run(self, text):
        self.texts.append(text)
        return "run"


class TaskCompressor(FakeCompressor):
    """A compressor that is told the task as well.

    Attributes:
        tasks: The tasks it was told.
    """

    def __init__(self, *answers):
        super().__init__(*answers)
        self.tasks: list[str] = []

    def compress(self, text, task=""):
        self.tasks.append(task)
        return self._shorten(text)

    def invoke(self, text):
        raise AssertionError("compress is the one to be used")
