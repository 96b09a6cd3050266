"""A run as a job of a queue."""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field, StringConstraints

from orchestrator.errors import ConfigurationError
from orchestrator.runtime.settings_model import SettingsModel
from orchestrator.settings import check_task

FORMAT: Final = 1
"""The version of a job. A worker takes only jobs of the versions that it knows, and leaves the others."""
MOST_CHARACTERS: Final = 200_000
"""The greatest size of a task."""
MOST_PRIORITY: Final = 1000
Kind: TypeAlias = Literal["run", "cancel"]
KINDS: Final[tuple[Kind, ...]] = ("run", "cancel")


def check_queued_task(task: str) -> str:
    """Returns the task of a run that a worker executes.

    Raises:
        ConfigurationError: It is too long, or ``check_task`` does not accept it.
    """
    if len(task) > MOST_CHARACTERS:
        raise ConfigurationError(
            f"a task of {len(task):,} characters is too long for a queue; give at most {MOST_CHARACTERS:,}, "
            "such as a task that says where a longer text is"
        )
    return check_task(task)


class QueuedJob(SettingsModel):
    """What a worker does: it executes a run, or ends a run that no worker executes.

    Attributes:
        queue: Name of the queue.
        app: The function that builds the orchestrator, as ``MODULE:FUNCTION``.
        task: What to do.
        thread_id: Name of the run.
        kind: "run", or "cancel".
        priority: A job with a greater number is taken first.
        after_s: How long it is delayed, in seconds.

    Raises:
        ConfigurationError: A value is not accepted.
    """

    queue: Annotated[
        str,
        StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,59}$"),
        Field(description="a name of at most 60 letters, digits, dots, dashes and underscores"),
    ]
    app: Annotated[
        str,
        StringConstraints(pattern=r"^[^\s/:]{1,150}:[^\s/:]{1,100}$"),
        Field(description="MODULE:FUNCTION, such as my_agents:build"),
    ]
    task: str
    thread_id: Annotated[
        str, StringConstraints(max_length=500), Field(description="a name of at most 500 characters")
    ]
    kind: Kind = "run"
    priority: Annotated[
        int, Field(ge=-1000, le=MOST_PRIORITY, description="a whole number from -1000 to 1000")
    ] = 0
    after_s: Annotated[int | float, Field(ge=0, le=31_622_400, description="seconds from 0 to a year")] = 0

    @property
    def route(self) -> str:
        """What a worker has to be able to do for this job."""
        return build_route(self.queue, self.kind, self.app)

    @property
    def key(self) -> str:
        """The job's name: a queue holds one job of a name, so that a cancelled run is not begun again."""
        return build_key(self.thread_id)


def build_route(queue: str, kind: Kind, app: str) -> str:
    """Builds the route of the jobs of a queue that need an app; ``read_route`` takes it apart."""
    return f"{queue}/{kind}.{FORMAT}/{app}"


def read_route(route: str) -> tuple[str, str, str]:
    """Returns the queue, the kind with the version, and the app of a route."""
    queue, kind, app = route.split("/", 2)
    return queue, kind, app


def build_key(thread_id: str) -> str:
    """Builds the name of the job of a run."""
    return f"run:{thread_id}"
