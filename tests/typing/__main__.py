"""``python -m tests.typing`` checks the types of what users write, with ``mypy --strict`` and pyright.

It checks every snippet of the documentation, every example, and the uses and misuses in this folder.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from pytest_examples import find_examples

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = [*sorted((ROOT / "examples").glob("*.py")), *sorted((ROOT / "examples" / "workers").glob("*.py"))]
PROGRAMS = [*EXAMPLES, *sorted(Path(__file__).parent.glob("*uses.py"))]


def main() -> int:
    """Return 0 if both checkers accept all programs."""
    with tempfile.TemporaryDirectory() as folder:
        programs = [*write_snippets(Path(folder)), *PROGRAMS]
        # The settings of the project, so that its cache serves here, too.
        commands = (["mypy"], ["pyright"])
        return max([check(command, programs) for command in commands])


def write_snippets(folder: Path) -> list[Path]:
    """Write each snippet to a file that is named after its page, with the line numbers of the page."""
    snippets = []
    for example in find_examples(*map(str, PAGES)):
        snippet = folder / f"{example.path.stem.replace('-', '_')}_{example.start_line}.py"
        snippet.write_text("\n" * example.start_line + example.source, encoding="utf-8")
        snippets.append(snippet)
    return snippets


def check(command: list[str], programs: list[Path]) -> int:
    """Return the exit status of a type checker."""
    environment = {**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    return subprocess.run([*command, *map(str, programs)], cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
