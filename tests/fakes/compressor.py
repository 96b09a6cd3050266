"""Fake compressors, one for each accepted form."""

from tests.fakes.answers import Answers


class FakeCompressor:
    """A compressor with ``invoke``.

    Attributes:
        texts: The texts of all calls.
    """

    def __init__(self, *answers):
        self.texts: list[str] = []
        self._answers = Answers(answers, lambda text: f"short({len(text)})")

    def invoke(self, text):
        self.texts.append(text)
        return self._answers.next(text)


class AsyncFakeCompressor(FakeCompressor):
    async def invoke(self, text):
        return super().invoke(text)


class RunCompressor:
    def __init__(self):
        self.texts: list[str] = []

    def _run(self, text):
        self.texts.append(text)
        return "run"
