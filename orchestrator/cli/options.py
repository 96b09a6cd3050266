"""What ``run`` and ``resume`` take, and what of it is kept with a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final

import typer
from pydantic import BaseModel, ConfigDict, ValidationError

from orchestrator.budget import Budget
from orchestrator.cli.arguments import mode, number, text, whole_number
from orchestrator.cli.errors import StoreError
from orchestrator.config import Settings
from orchestrator.supervision.records import SupervisionMode

SPEC: Final = '"local", "ollama:NAME", "gguf:PATH" or "openai:NAME".'

Task = Annotated[str, typer.Argument(help="What to do.", metavar="TASK", show_default=False, parser=text)]
Model = Annotated[str, typer.Option(help=SPEC, metavar="SPEC", parser=text)]
Retries = Annotated[
    int, typer.Option(help="Executions of a step after its first.", metavar="N", parser=whole_number)
]
Supervise = Annotated[
    SupervisionMode,
    typer.Option(
        help="Who decides on a step: the evaluation alone, a model where it is not clean, or you.",
        metavar="none|llm|human",
        parser=mode,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the final state as one JSON document.")]
Database = Annotated[
    str | None,
    typer.Option(help="The file that keeps runs, in place of yours.", metavar="PATH", parser=text),
]
CallTimeout = Annotated[
    float | None,
    typer.Option(help="Seconds that one call of an agent may take.", metavar="S", parser=number),
]
StepTimeout = Annotated[
    float | None,
    typer.Option(help="Seconds for a step with all its attempts.", metavar="S", parser=number),
]
MaxSeconds = Annotated[
    float | None, typer.Option(help="Seconds for the whole run.", metavar="S", parser=number)
]
MaxTokens = Annotated[
    int | None, typer.Option(help="Tokens, input and output together.", metavar="N", parser=whole_number)
]
MaxCalls = Annotated[int | None, typer.Option(help="Calls of the model.", metavar="N", parser=whole_number)]


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
