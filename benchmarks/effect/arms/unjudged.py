"""Arms that claim nothing: one answer, and answers that are drawn again without feedback."""

from __future__ import annotations

from benchmarks.effect.arms.base import Answer, Trial


class OneShot:
    """One call of the model."""

    name = "one-shot"
    package = module = ""

    def answer(self, trial: Trial) -> Answer:
        """Return the reply to the prompt."""
        return Answer(trial.model.invoke(trial.prompt.text).text)


class BlindRetries:
    """The best of several answers: the first that is officially right, else the last.

    No user can have this arm, because it asks the official checkers. It bounds what retries without feedback
    can reach, so feedback is worth something only above it.
    """

    name = "blind-retries"
    package = module = ""

    def answer(self, trial: Trial) -> Answer:
        """Return the best reply."""
        output = ""
        for _ in range(1 + trial.retries):
            output = trial.model.invoke(trial.prompt.text).text
            if trial.is_right(output):
                break
        return Answer(output)
