import pytest


@pytest.fixture(autouse=True)
def enabled_sdk(monkeypatch):
    """The benchmarks of peers, which other tests import, switch OpenTelemetry's SDK off for the process."""
    monkeypatch.delenv("OTEL_SDK_DISABLED", raising=False)
