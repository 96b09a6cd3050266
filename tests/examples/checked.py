"""``python -m tests.examples.checked [--scripted] EXAMPLE`` runs an example and checks its reports."""

from __future__ import annotations

import argparse
import runpy
import shutil
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from evaluation import EvaluationReport
from tests.fakes.scripted_source import scripted_endpoint, with_scripted_model


def main() -> None:
    """Run the example; its global ``state``, if there is one, is the state of a run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scripted", action="store_true", help="replace the local model by a scripted one")
    parser.add_argument("example", type=Path)
    arguments = parser.parse_args()
    with ExitStack() as stack:
        example = arguments.example.resolve()
        if arguments.scripted:
            stack.enter_context(scripted_endpoint())
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            example = _scripted_copy(example, folder)
        check_example(example)


def check_example(path: Path) -> None:
    """Run a program as ``__main__`` and validate the report of each record in its ``state``."""
    sys.argv = [str(path)]
    state = runpy.run_path(str(path), run_name="__main__").get("state")
    for record in state["results"] if state else ():
        EvaluationReport.model_validate(record["report"])


def _scripted_copy(example: Path, folder: Path) -> Path:
    """Copy all examples, since one may start another, and return the copy of this one."""
    copy = Path(shutil.copytree(example.parent, folder / "examples"))
    for program in copy.glob("*.py"):
        source = program.read_text(encoding="utf-8")
        program.write_text(with_scripted_model(source), encoding="utf-8")
    return copy / example.name


if __name__ == "__main__":
    main()
