"""A question, and a console that writes into a string."""

from io import StringIO

from rich.console import Console, RenderableType

from orchestrator.state.records import Question


def question(step_index: int = 0, attempt: int = 1, **changes: object) -> Question:
    made = Question(
        id=f"{step_index}.{attempt}",
        kind="supervision",
        step_index=step_index,
        step=f"step {step_index + 1}",
        attempt=attempt,
        text="Do you accept it?",
        output="the result",
        findings=[],
        accepts=["approve", "correct", "deny"],
        asked_at="2025-01-01T00:00:00+00:00",
        problem=None,
    )
    return {**made, **changes}  # type: ignore[typeddict-item,return-value]


def drawn(renderable: RenderableType, width: int = 60, *, color: bool = False) -> str:
    console = Console(
        file=StringIO(),
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        markup=True,
        emoji=True,
        highlight=True,
    )
    console.print(renderable)
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]
