"""Writes the table of docs/reference/options.md: python -m tests.orchestrator.options_page."""

import ast
import inspect
import json
import re
from pathlib import Path
from typing import get_args

from orchestrator import OrchestratorOptions
from orchestrator.cli.run_options import RunOptions
from orchestrator.settings import Settings
from orchestrator.state import records

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "options.md"
_LISTED = ("PlanningMode", "Grounding", "VerifierName", "Requirement", "SupervisionMode")
_TABLE = re.compile(r"(?<=<!-- options -->\n).*?(?=<!-- end -->)", re.DOTALL)


def list_options():
    """The type and the description of each option, by its name."""
    body = ast.parse(inspect.getsource(OrchestratorOptions)).body[0].body[1:]
    return {
        field.target.id: (
            ast.unparse(field.annotation),
            " ".join(text.value.value.split()).replace("``", "`"),
        )
        for field, text in zip(body[::2], body[1::2], strict=True)
    }


def build_table():
    rows = [
        f"| `{name}` | `{_escape(_expand(kind))}` | `{_find_default(name, kind)}` | {_escape(sentence)} |"
        for name, (kind, sentence) in list_options().items()
    ]
    return "\n".join(["| option | type | default | |", "|---|---|---|---|", *rows, ""])


def read_table():
    return _TABLE.search(PAGE.read_text(encoding="utf-8")).group()


def list_flags():
    """The options of the command line that are options of the constructor under the same name."""
    return [name for name in RunOptions.model_fields if name in OrchestratorOptions.__annotations__]


def _find_default(name, kind):
    field = Settings.model_fields.get(name)
    if field is None:
        return "()" if kind.startswith("Sequence") else "None"
    if field.default_factory is not None:
        return f"{field.default_factory.__name__}()"
    return getattr(field.default, "__name__", repr(field.default)).replace("'", '"')


def _expand(kind):
    """The values of a type that lists them, in place of its name."""
    names = vars(records)
    return re.sub(
        "|".join(_LISTED), lambda match: " | ".join(map(json.dumps, get_args(names[match[0]]))), kind
    )


def _escape(text):
    return text.replace("|", r"\|")


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(_TABLE.sub(lambda _: build_table(), page), encoding="utf-8")
