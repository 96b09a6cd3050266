"""The published JSON Schemas of what goes in and out; ``python -m evaluation.schemas`` writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from evaluation.inputs.contract import EvaluationCase, EvaluationContract
from evaluation.inputs.run import AgentRun
from evaluation.results.report import EvaluationReport

FOLDER: Final = Path(__file__).with_name("schema")


def schemas() -> dict[str, str]:
    """Make each schema as JSON text by its file's name."""
    return {
        "agent_run.json": _text(TypeAdapter(AgentRun)),
        "evaluation_contract.json": _text(TypeAdapter(EvaluationContract)),
        "evaluation_case.json": _text(TypeAdapter(EvaluationCase)),
        "evaluation_report.json": _text(TypeAdapter(EvaluationReport), serialized=True),
    }


def _text(adapter: TypeAdapter[object], *, serialized: bool = False) -> str:
    schema = adapter.json_schema(mode="serialization" if serialized else "validation")
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}, indent=2) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in schemas().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
