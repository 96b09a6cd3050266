"""``python -m tests.examples.checked [--scripted] [EXAMPLE ...]`` runs examples and checks what they leave.

One process runs all of them, because the imports take longer than most examples. The reports in a global
``state`` are validated, and what an example prints is compared with the block ``text`` of its page.
"""

import argparse
import io
import re
import runpy
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from evaluation import EvaluationReport
from tests.fakes.scripted_source import scripted_endpoint, with_scripted_model

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "examples"
HELPERS = {"mcp_server.py"}  # mcp_tools.py starts it


def main() -> None:
    """Run the examples that are named, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scripted", action="store_true", help="replace the local model by a scripted one")
    parser.add_argument("examples", type=Path, nargs="*")
    arguments = parser.parse_args()
    examples = arguments.examples or list_examples()
    with ExitStack() as stack:
        folder = ROOT / "examples"
        if arguments.scripted:
            stack.enter_context(scripted_endpoint())
            folder = stack.enter_context(scripted_copies(folder))
        for example in examples:
            start = time.monotonic()
            print(f"-- {example.name}", flush=True)
            check_example(folder / example.name)
            print(f"   {time.monotonic() - start:.1f} s", flush=True)


def list_examples() -> list[Path]:
    folder = ROOT / "examples"
    programs = (program for program in folder.glob("*.py") if program.name not in HELPERS)
    return sorted([*programs, *folder.glob("*.ipynb")])


def check_example(path: Path) -> None:
    """Run an example as a user would, and compare it with its page."""
    if path.suffix == ".ipynb":
        notebook = nbformat.read(path, as_version=4)
        NotebookClient(notebook, timeout=300).execute()
        return
    printed = run_program(path)
    page = PAGES / f"{path.stem}.md"
    expected = read_output(page) if page.exists() else None
    if expected is not None and printed != expected:
        raise AssertionError(f"{page} has another output:\n{printed}")


def run_program(path: Path) -> str:
    """Run a program as ``__main__``, validate the reports of its ``state``, and return what it printed."""
    sys.argv = [str(path)]
    output = Tee()
    with redirect_stdout(output):
        state = runpy.run_path(str(path), run_name="__main__").get("state")
    for record in (state or {}).get("results", ()):  # an agent without an orchestrator has none
        EvaluationReport.model_validate(record["report"])
    return output.getvalue()


class Tee(io.StringIO):
    def write(self, text: str, /) -> int:
        sys.__stdout__.write(text)
        return super().write(text)


def read_output(page: Path) -> str | None:
    block = re.search(r"^```text\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return block and block[1]


@contextmanager
def scripted_copies(folder: Path) -> Iterator[Path]:
    """Copy all examples, since one may start another, with a scripted model in place of the local one."""
    with tempfile.TemporaryDirectory() as temporary:
        copies = Path(shutil.copytree(folder, Path(temporary, "examples")))
        for path in (*copies.glob("*.py"), *copies.glob("*.ipynb")):
            path.write_text(with_scripted_model(path.read_text(encoding="utf-8")), encoding="utf-8")
        yield copies


if __name__ == "__main__":
    main()
