"""Draw the README's picture: the progress of a run whose second step fails a check and is corrected.

The run is real, its model is scripted. The picture is an SVG that moves: one group for each frame.
"""

from __future__ import annotations

import argparse
import io
import re
import time
from collections.abc import Iterator
from pathlib import Path

from langchain_core.messages import BaseMessage
from rich.console import Console
from rich.text import Text

from agents.testing import ScriptedChatModel
from orchestrator import LangGraphOrchestrator
from orchestrator.cli.run_drawings import describe_event
from orchestrator.events import Planned, RunStarted, StepExecuted, StepStarted

TASK = "Announce when the library is open: Tuesday, Thursday and Saturday. Use at most 12 words."
GOOD = '{"success": true, "feedback": "It does what the step says."}'
REPLIES = [
    '{"plan": ["List the opening days", "Write the notice in at most 12 words"]}',
    "- Tuesday\n- Thursday\n- Saturday",
    GOOD,
    "Dear readers, our library is open for all of you on Tuesday, on Thursday and on Saturday.",
    "The library is open on Tuesday, Thursday and Saturday.",
    GOOD,
]
WIDTH, SECONDS, THINKING_SECONDS = 118, 1.8, 0.4
FIRST_TAG = re.compile(r"<svg [^>]*>")
FONT_FACE = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def main() -> None:
    """Run the task, and write the view after each event as a frame."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("live-view.svg"))
    arguments = parser.parse_args()
    texts = [*draw_texts()]
    texts.append(texts[-1])  # time to read the end
    lines = max(text.count("\n") for text in texts)
    frames = [draw_svg(text + "\n" * (lines - text.count("\n"))) for text in texts]
    arguments.out.write_text(animate(frames), encoding="utf-8")


def draw_texts() -> Iterator[str]:
    """Yield what the terminal shows after each event, as text with control sequences for colours."""
    script = iter(REPLIES)

    def reply(prompt: list[BaseMessage]) -> str:  # noqa: ARG001 - the script knows what comes next
        time.sleep(THINKING_SECONDS)
        return next(script)

    lines, steps = Text(), 0
    orchestrator = LangGraphOrchestrator.from_model(
        ScriptedChatModel(reply, (120, 20)), planning="always", synthesis=False
    )
    for event in orchestrator.stream(TASK):
        steps = len(event.plan) if isinstance(event, Planned) else steps
        if (line := describe_event(event, steps)) is not None:
            lines.append(line).append("\n")
        if isinstance(event, RunStarted | StepStarted | StepExecuted):
            continue  # the next event comes at once, or says more
        console = Console(width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
        with console.capture() as capture:
            console.print(lines, end="")
        yield capture.get()


def draw_svg(text: str) -> str:
    """Draw one frame as a picture of a terminal."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(text), end="")
    return FONT_FACE.sub("", console.export_svg(title="orchestrator run"))


def animate(frames: list[str]) -> str:
    """Join pictures of one size to one that shows them in turn; without animation, it shows the last one."""
    share = 100 / len(frames)
    total = SECONDS * len(frames)
    [first_tag] = FIRST_TAG.findall(frames[0])
    style = (
        f"@keyframes turn {{ 0%, {share:.3f}% {{ opacity: 1 }} {share + 0.001:.3f}%, 100% {{ opacity: 0 }} }}"
        "\n.frame { opacity: 0 } .frame:last-of-type { opacity: 1 }"
        "\n@media (prefers-reduced-motion: no-preference) {"
        f" .frame, .frame:last-of-type {{ opacity: 0; animation: turn {total:.1f}s infinite }} }}"
    )
    groups = [
        f'<g class="frame" style="animation-delay: {index * SECONDS:.1f}s">{inner(frame)}</g>'
        for index, frame in enumerate(frames)
    ]
    return "\n".join([first_tag, f"<style>{style}</style>", *groups, "</svg>\n"])


def inner(svg: str) -> str:
    """Return what is within the first tag of a picture."""
    return FIRST_TAG.sub("", svg).removesuffix("</svg>\n").strip()


if __name__ == "__main__":
    main()
