"""Builds the published JSON Schemas; ``python -m evaluation.json_schemas`` writes them to files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from evaluation.evalset.task_case import CaseSet, SingleCase
from evaluation.inputs.contract import EvaluationCase, EvaluationContract
from evaluation.inputs.run import AgentRun
from evaluation.results.report import EvaluationReport

FOLDER: Final = Path(__file__).with_name("schema")


def schemas() -> dict[str, str]:
    """Build each schema as JSON text, by file name."""
    return {
        "agent_run.json": _format_schema(TypeAdapter(AgentRun)),
        "evaluation_contract.json": _format_schema(TypeAdapter(EvaluationContract)),
        "evaluation_case.json": _format_schema(TypeAdapter(EvaluationCase)),
        "case_set.json": _format_schema(TypeAdapter(CaseSet | SingleCase)),
        "evaluation_report.json": _format_schema(TypeAdapter(EvaluationReport), serialized=True),
    }


def _format_schema(adapter: TypeAdapter[object], *, serialized: bool = False) -> str:
    # A case is described as it is accepted (a name stands for a call), a report as it is written.
    schema = adapter.json_schema(mode="serialization" if serialized else "validation")
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}, indent=2) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in schemas().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
