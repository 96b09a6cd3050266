"""Sends requests that the OpenAPI description allows, and others, and compares the answers with it.

uv run --with "schemathesis>=4.32,<5" python -m tests.orchestrator.serving.described_interface
"""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.faults.children import Place
from tests.faults.served import Server

EXCEPTIONS: Final = (
    # Event streams stay open until their run has ended.
    ("--exclude-path-regex", "/events$"),
    # A name without a run is 404, and a contract, a task or a name may be refused for more than its type.
    ("--exclude-checks", "positive_data_acceptance"),
)


def main() -> int:
    """Return the exit status of schemathesis."""
    with TemporaryDirectory() as name:
        server = Server.start(Place(str(Path(name) / "runs.sqlite"), Path(name)), 0.0, asks=False)
        server.client.post("/api/runs", json={"task": "Invite guest0"}).raise_for_status()
        options = [word for exception in EXCEPTIONS for word in exception]
        description = f"{server.client.base_url}/api/openapi.json".replace("//api", "/api")
        command = ["st", "run", description, "--seed", "1", "--max-examples", "50", *options]
        try:
            return subprocess.run(command, check=False, cwd=name).returncode
        finally:
            server.kill()


if __name__ == "__main__":
    sys.exit(main())
