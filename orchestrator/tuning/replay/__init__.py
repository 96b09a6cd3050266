"""What other policies would have given on recorded runs: pure, without a model call."""

from evaluation.errors import MissingExtraError

try:
    import numpy as np  # noqa: F401
except ModuleNotFoundError as error:
    raise MissingExtraError(
        "replay needs numpy, which is not installed; run: pip install 'plan-execute-monitor[tune]'"
    ) from error
