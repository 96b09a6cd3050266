"""Draw the README's picture of the live view, from a real run of the embedded model."""

from __future__ import annotations

import argparse
import io
from pathlib import Path

from rich.console import Console

from orchestrator import LangGraphOrchestrator
from orchestrator.cli.view.live import draw_frame
from orchestrator.cli.view.progress import Watch


def main() -> None:
    """Run the task, and write the view's last frame as SVG."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", default="Explain why the sky is blue in two sentences")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("live-view.svg"))
    arguments = parser.parse_args()
    watch = Watch()
    for event in LangGraphOrchestrator.from_model("local").stream(arguments.task):
        watch.see(event)
    console = Console(record=True, width=86, file=io.StringIO(), force_terminal=True)
    console.print(draw_frame(watch.view, watch.clock()))
    arguments.out.write_text(console.export_svg(title="orchestrator run"), encoding="utf-8")


if __name__ == "__main__":
    main()
