"""Measures recall, precision and time of the search for credentials and personal data.

On the labelled set of the tests; compared with ``detect-secrets`` if it is installed:

    uv run python -m benchmarks.sensitive_data
    uv run --with detect-secrets python -m benchmarks.sensitive_data
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence

from pydantic_core import to_json

from evaluation.report.redaction import Redactor
from evaluation.sensitive.scanner import find_sensitive, list_suspects
from tests.evaluation.sensitive.labelled.credentials import CREDENTIALS
from tests.evaluation.sensitive.labelled.negatives import NEGATIVES
from tests.evaluation.sensitive.labelled.personal import PERSONAL
from tests.evaluation.sensitive.labelled.sample import Sample
from tests.evaluation.sensitive.labelled.score import Find, score

CLEAN_RUN = {
    "final_output": "The order is in transit and will arrive on Friday before noon. " * 8,
    "tool_calls": [
        {
            "name": "lookup_order",
            "args": {"order_id": f"#W{page}234567", "filters": {"from": "2024-05-01"}, "page": page},
            "result": {"status": "shipped", "price": 129.99, "items": [{"sku": "ab-12", "count": 2}]},
        }
        for page in range(6)
    ],
    "messages": [{"role": "user", "content": "Where is my order? " * 60}],
}


def search_ours(text: str) -> Iterable[tuple[int, int, str]]:
    return [(span.start, span.end, span.category) for span in find_sensitive(text)]


def load_detect_secrets() -> Find | None:
    """Return its scan of a file, with its default plug-ins and filters; None if it is not installed."""
    try:
        from detect_secrets.core.scan import scan_file
        from detect_secrets.settings import default_settings
    except ImportError:
        return None

    def search(text: str) -> Iterable[tuple[int, int, str]]:
        with default_settings(), tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(text)
            file.flush()
            secrets = {secret.secret_value for secret in scan_file(file.name)}
        places = ((text.find(secret), secret) for secret in secrets if secret)
        return [(start, start + len(secret), "credential") for start, secret in places if start >= 0]

    return search


def print_score(
    name: str, search: Find, category: str, positives: Sequence[Sample], others: Sequence[Sample]
):
    result = score(search, positives, [*NEGATIVES, *others], category)
    print(
        f"{name:15} {category:11} recall {result.recall:.3f} ({result.recalled} of {result.expected}), "
        f"precision {result.precision:.3f} ({result.right} of {result.reported})"
    )
    if name == "ours":
        for sample in result.missed:
            print(f"    missed: {sample.kind} in {sample.text[:60]!r}")
        for text, value in result.false_alarms:
            print(f"    false alarm: {value!r} in {text[:60]!r}")


def time_call(function: Callable[[], object], turns: int = 300, repeats: int = 9) -> float:
    """Return microseconds of CPU for one call, the least of several repeats."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        for _ in range(turns):
            function()
        times.append((time.process_time() - start) / turns)
    return min(times) * 1e6


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    print(
        f"{len(CREDENTIALS)} credentials, {len(PERSONAL)} personal data, {len(NEGATIVES)} texts with neither"
    )
    print_score("ours", search_ours, "credential", CREDENTIALS, PERSONAL)
    print_score("ours", search_ours, "personal", PERSONAL, CREDENTIALS)
    other = load_detect_secrets()
    if other:
        print_score("detect-secrets", other, "credential", CREDENTIALS, PERSONAL)
    else:
        print("detect-secrets is not installed")
    text = to_json(CLEAN_RUN).decode()
    search = time_call(lambda: list_suspects(text))
    clean = time_call(lambda: Redactor.of([CLEAN_RUN]).clean(CLEAN_RUN))
    print(f"a clean run of {len(text)} bytes: {search:.1f} µs to search, {clean:.1f} µs to write and search")
    million = "Order 12345 is in transit since 2024-05-15. " * 23_000
    print(f"a clean text of 1 MB: {time_call(lambda: find_sensitive(million), 3, 3) / 1000:.1f} ms")


if __name__ == "__main__":
    main()
