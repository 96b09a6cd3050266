"""The commands. Imports nothing slow: a process reads it before it can be interrupted."""

from __future__ import annotations

from typing import Final

from orchestrator.cli.process_exit import SUCCESS

COMMANDS: Final = {
    "run": "Plan a task, execute it step by step and judge every step.",
    "resume": "Resume a run after a crash, or answer its question.",
    "fork": "Copy a run up to a step, and continue the copy.",
    "checks": "Print how a success of a task is checked.",
    "runs": "List the stored runs, newest first.",
    "show": "Show the plan, the executions and the result of a run.",
    "delete": "Delete a run.",
    "prune": "Delete runs that have ended.",
    "submit": "Queue a run for workers on any machine.",
    "worker": "Execute the runs of a queue.",
    "queue": "Show a queue and its workers, or cancel one of its runs.",
    "serve": "Show the runs in a browser, and answer their questions there.",
    "mcp": "Offer runs and evaluations to a client of the Model Context Protocol.",
    "evaluate": "Evaluate recorded runs of any framework, or cases in files.",
    "compare": "Compare models or retry policies on the same cases.",
    "doctor": "Check which models can run, or how far a judge can be trusted.",
    "tune": "Search for the retry policy that pays on your tasks.",
}
"""The help of each command; its function has its name."""
SHARED_MODULES: Final = {
    **dict.fromkeys(("run", "resume", "fork"), "run_commands"),
    **dict.fromkeys(("runs", "show", "delete", "prune"), "store_commands"),
    **dict.fromkeys(("submit", "worker", "queue"), "queue_commands"),
}
"""The modules of several commands; any other command NAME is in the module ``NAME_command``."""
STOPPED: Final = {"worker": SUCCESS}
"""The exit status of a command that a signal ends while it starts, if it is not INTERRUPTED."""
