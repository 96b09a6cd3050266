"""SupervisionPolicy: the limits of corrections, questions and deadlines in supervision."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from orchestrator.runtime.settings_model import Flag, PositiveCount, Seconds, SettingsModel


class SupervisionPolicy(SettingsModel):
    """Limits how often a step is corrected, and says how a person is asked.

    Attributes:
        max_reorient_attempts: How often the supervisor may have one step redone with a correction.
        max_corrections: How often people may have it redone; after that they can only approve or deny.
        max_assumptions: A commitment with more assumptions than this triggers supervision; None is no bound.
        ask: When a person decides on a step in mode "human": "always", or only "on_triggers" of RECONCILE.
        human: Whether a person can be asked; needs a checkpointer. If nobody can be asked, a step about
            which the supervisor wants to ask fails with the question as its reason.
        answer_deadline_s: Seconds to wait for an answer; None is no bound.
        on_deadline: The answer that is assumed if none came in time.

    Raises:
        ConfigurationError: A value is not accepted.
    """

    max_reorient_attempts: PositiveCount = 2
    max_corrections: PositiveCount = 3
    max_assumptions: Annotated[
        int | None, Field(ge=0, description="a whole number of at least 0, or None for no bound")
    ] = None
    ask: Literal["always", "on_triggers"] = "always"
    human: Flag = True
    answer_deadline_s: Seconds = None
    on_deadline: Literal["approve", "deny"] = "deny"
