"""``python -m tests.examples.checked EXAMPLE`` runs an example, and checks the reports of its records."""

from __future__ import annotations

import runpy
import sys

from evaluation import EvaluationReport


def main() -> None:
    """Run the example as itself; what it keeps as ``state`` is the state of a run."""
    path = sys.argv[1]
    sys.argv = [path]
    state = runpy.run_path(path, run_name="__main__").get("state")
    for record in state["results"] if state else ():
        EvaluationReport.model_validate(record["report"])


if __name__ == "__main__":
    main()
