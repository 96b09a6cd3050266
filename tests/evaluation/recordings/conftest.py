import json

import pytest

from evaluation.recordings.run_files import read_runs


@pytest.fixture
def read_written(tmp_path):
    """Reads the runs of a file with these lines: texts, or values that are written as JSON."""

    def write_and_read(*lines):
        file = tmp_path / "run.data"
        file.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
        return list(read_runs(file))

    return write_and_read
