from __future__ import annotations

import pytest

from orchestrator import RetryPolicy
from tests.fakes.chat_server import plan

SPEC = "tasks: tasks.yaml\nmodel: openai:m\nspace: {max_retries: [0]}\n"
CASES = "version: 1\ncases:\n" + "".join(f"  - task: Write exactly {n} words.\n" for n in (1, 2, 3, 4))


@pytest.fixture
def tune(cli, served, tmp_path, monkeypatch):
    """Search on four tasks: `tune()`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tasks.yaml").write_text(CASES)
    served(plans=[plan("write them")], steps=["one two"])

    def run(*options, text=SPEC):
        (tmp_path / "retries.yaml").write_text(text)
        return cli("tune", "retries.yaml", *options)

    return run


def test_the_recommendation_is_printed_and_the_policy_is_written(tune, tmp_path):
    ended = tune()

    assert ended.exit_code == 0
    before, _, after = ended.stderr.partition("policy 1: default: success ")
    assert "no policy is recommended with fewer than 10; give more" in before
    assert "policy 2: max_retries=0: success " in after
    assert "Keep the default" in ended.stdout
    assert RetryPolicy.from_yaml((tmp_path / "retries" / "policy.yaml").read_text()) == RetryPolicy()
    assert "picture of the attempts: retries/worth.html" in ended.stdout
    assert (tmp_path / "retries" / "worth.html").stat().st_size > 0
