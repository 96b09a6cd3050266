"""The input models of expected trajectories: the actions, and how they and their arguments are compared."""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self, TypeAlias, get_args

from pydantic import BeforeValidator, Field, field_validator, model_validator

from evaluation.checks.check_model import Text
from evaluation.importers.tool_answers import FailedAnswer
from evaluation.inputs.run import ActionKind
from evaluation.validation.problems import InputModel, wrap_name
from evaluation.values import WHOLE

MatchMode = Literal["exact", "in_order", "any_order", "precision_recall", "single_tool", "subset", "superset"]
MATCH_MODES: Final[tuple[MatchMode, ...]] = get_args(MatchMode)


class ArgumentRule(InputModel):
    """How the arguments of an observed call are compared with the expected ones.

    With ``superset``, the observed arguments contain at least the expected ones, at every level of nesting.
    """

    match: Literal["exact", "ignore", "named", "superset"] = "exact"
    names: list[str] | None = None
    """For ``named``: the arguments to compare."""
    numbers_as_text: bool = False
    """Whether a text such as "12.50" counts as the number that it writes."""
    unordered: list[str | list[str]] = Field(default_factory=list)
    """Arguments that are lists whose items may come in any order. Lists whose items belong together are a
    group: ``["item_ids", "new_item_ids"]``."""

    @model_validator(mode="after")
    def _require_names(self) -> Self:
        if self.match == "named" and not self.names:
            raise ValueError("match 'named' needs 'names', the arguments to compare")
        return self


class ExpectedAction(InputModel):
    """An expected action; if ``args`` is absent, any arguments match."""

    name: Annotated[str, Field(pattern=r"\S")] | None = None
    args: dict[str, object] | None = None
    arguments: ArgumentRule | None = None
    """Overrides the rule of the tool and the rule for all tools."""
    agent: str | None = None
    """The expected agent; absent: any agent."""
    target: str | None = None
    kind: ActionKind | None = None
    optional: bool = False
    """Whether the action may be missing."""
    any_of: list[NamedAction] = Field(default_factory=list)
    """Alternatives in place of ``name``; one of them is enough."""

    @model_validator(mode="after")
    def _require_name(self) -> Self:
        if (self.name is not None) is bool(self.any_of):
            raise ValueError("an expected action needs either 'name' or 'any_of'")
        return self

    @property
    def names(self) -> frozenset[str]:
        """The names of the action and of all actions within."""
        inner = [name for action in self.any_of for name in action.names]
        return frozenset(inner if self.name is None else [self.name, *inner])


NamedAction: TypeAlias = Annotated[
    ExpectedAction, BeforeValidator(wrap_name, json_schema_input_type=str | ExpectedAction)
]
"""An expected action, for which its name alone may be given."""


class TrajectoryRules(InputModel):
    """How actions are compared."""

    arguments: ArgumentRule = Field(default_factory=ArgumentRule)
    """The rule for every tool that ``tools`` does not name."""
    tools: dict[str, ArgumentRule] = Field(default_factory=dict)
    ignored_tools: list[str] = Field(default_factory=list)
    """Calls that are left out of the comparison, for instance calls that only read."""
    compared_tools: list[str] | None = None
    """If given, calls of all other tools are left out."""
    writing_tools: list[str] | None = None
    """The tools that change something. If given, no other call of them than the expected ones may occur, and
    calls that only read are not compared, unless the contract expects nothing else.

    A tool that is not in the list only reads. With ``reading_tools``, a tool in neither list is compared as
    the match mode says.
    """
    reading_tools: list[str] | None = None
    """The tools that only read."""
    forbidden_tools: list[Text] = Field(default_factory=list)
    final_tools: list[str] = Field(default_factory=list)
    """Tools that may end a run without a reply of the assistant, for instance a hand-over to a person."""
    failed_calls: Literal["extra", "ignore", "count", "fail"] = "extra"
    """What a call is worth whose result was an error.

    ``extra``: it counts as a call, but fulfils no expectation. ``ignore``: it is left out. ``count``: it
    counts as any other and fulfils an expectation. ``fail``: as ``extra``, and it fails the run.
    """
    failed_answers: list[FailedAnswer] = Field(default_factory=list)
    """Answers of a failed call: a text is how it begins, an object has fields of it with their values. A
    writing tool also fails by the answers that ``describes_error`` knows."""
    stuck_after: Annotated[int, Field(ge=2), WHOLE] = 3
    """Number of identical calls in a row that count as stuck."""

    @field_validator("failed_answers")
    @classmethod
    def _require_words(cls, answers: list[FailedAnswer]) -> list[FailedAnswer]:
        if any(not (each.strip() if isinstance(each, str) else each) for each in answers):
            raise ValueError("an answer in 'failed_answers' is empty; every answer would fit it")
        return answers

    @property
    def names_effects(self) -> bool:
        """Whether the contract says of any tool that it reads or writes."""
        return self.writing_tools is not None or bool(self.reading_tools)

    @property
    def asks_for_effects(self) -> bool:
        """Whether the contract lists all tools that write, so that every other tool only reads."""
        return self.writing_tools is not None and self.reading_tools is None

    def find_rule(self, action: ExpectedAction) -> ArgumentRule:
        """Return the rule for the arguments: the action's own, else the tool's, else the common one."""
        return action.arguments or self.tools.get(str(action.name), self.arguments)

    def compares(self, name: str) -> bool:
        """Return whether actions of a name are compared."""
        return name not in self.ignored_tools and (self.compared_tools is None or name in self.compared_tools)

    def is_read(self, name: str, kind: str | None) -> bool:
        """Return whether an action only reads, by the contract's word. An unnamed hand-off does not."""
        is_unnamed_tool = name not in (self.writing_tools or ()) and kind in {None, "tool"}
        return name in (self.reading_tools or ()) or (self.asks_for_effects and is_unnamed_tool)

    @model_validator(mode="after")
    def _require_one_effect(self) -> Self:
        both = set(self.writing_tools or ()) & set(self.reading_tools or ())
        if both:
            raise ValueError(f"{min(both)!r} is in 'writing_tools' and in 'reading_tools'; keep it in one")
        return self
