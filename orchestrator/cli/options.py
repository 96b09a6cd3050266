"""How a run goes, as it was typed and as it is kept with the run."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, ValidationError

from orchestrator.errors import StoreError
from orchestrator.runtime.budget import Budget
from orchestrator.settings import Settings
from orchestrator.state.records import SupervisionMode


class Options(BaseModel):
    """How a run goes, as it was typed.

    Attributes:
        model: A model specification.
        supervise: The mode of supervision.
        max_retries: Executions of a step after its first.
        call_timeout: Seconds that one call of an agent may take.
        step_timeout: Seconds for a step with all its attempts.
        max_seconds: Seconds for the whole run.
        max_tokens: Tokens, input and output together.
        max_calls: Calls of the model.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = "local"
    supervise: SupervisionMode = "none"
    max_retries: int = 2
    call_timeout: float | None = None
    step_timeout: float | None = None
    max_seconds: float | None = None
    max_tokens: int | None = None
    max_calls: int | None = None

    def settings(self) -> Settings:
        """The same as settings.

        Raises:
            ConfigurationError: A value that is not accepted.
        """
        return Settings(
            max_retries=self.max_retries,
            call_timeout=self.call_timeout,
            step_timeout=self.step_timeout,
            budget=Budget(
                max_seconds=self.max_seconds,
                max_total_tokens=self.max_tokens,
                max_model_calls=self.max_calls,
            ),
            supervision=self.supervise,
        )

    def kept(self) -> dict[str, object]:
        """What is kept with a run: all that differs from the defaults."""
        return self.model_dump(exclude_defaults=True)

    def but(self, **typed: object) -> Options:
        """The same with what was typed this time; None was not."""
        return self.model_copy(update={name: value for name, value in typed.items() if value is not None})


def options_from(kept: Mapping[str, object], thread_id: str) -> Options:
    """Read what was kept with a run.

    Raises:
        StoreError: It holds what this version does not know.
    """
    try:
        return Options.model_validate(kept)
    except ValidationError as error:
        names = ", ".join(str(one["loc"][0]) for one in error.errors() if one["loc"])
        raise StoreError(
            f"thread {thread_id!r:.80} was begun with options that this version does not take ({names}); "
            "resume it with the version that began it"
        ) from error
