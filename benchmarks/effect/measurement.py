"""Runs the arms on the prompts, and stores each answer as soon as it is there."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import asdict, replace
from functools import partial
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any, Final, NamedTuple

from agents.parsing.loose_json import replace_surrogates
from benchmarks.effect.arms.base import Answer, Arm, Trial
from benchmarks.effect.models import Meter, ModelSource
from benchmarks.effect.prompts import Prompt, is_right
from benchmarks.effect.records import Record, RecordFile

_SEEDS: Final = 100
"""More seeds than a measurement has, so that no two prompts share one."""


class Plan(NamedTuple):
    """What to measure.

    Attributes:
        arms: The arms. One prompt is answered by all of them before the next, so that a slow hour of the
            machine slows all of them.
        prompts: The prompts.
        seeds: Number of answers of each arm to each prompt.
        retries: Answers that may follow the first.
        is_secret: Whether nothing of a prompt or an output may be shown, also if an arm fails.
        judge: Decides whether an output is right.
    """

    arms: Sequence[Arm]
    prompts: Sequence[Prompt]
    seeds: int
    retries: int
    is_secret: bool = False
    judge: Callable[[Prompt, str], bool] = is_right


def measure(plan: Plan, source: ModelSource, file: RecordFile) -> None:
    """Measure everything that the file does not hold yet."""
    code = read_version()
    trials = list(product(range(plan.seeds), plan.prompts, plan.arms))
    for number, (seed, prompt, arm) in enumerate(trials, 1):
        if not file.is_done((arm.name, prompt.key, seed)):
            print(f"\r{number} of {len(trials)} {arm.name:30}", end="", file=sys.stderr, flush=True)
            model = source(prompt.key * _SEEDS + seed)
            trial = Trial(prompt, model, plan.retries, partial(plan.judge, prompt))
            with hide_output() if plan.is_secret else nullcontext():
                result = try_arm(arm, trial)
            file.add(Record(arm=arm.name, prompt=prompt.key, seed=seed, code=code, **result))
    print(file=sys.stderr)


def try_arm(arm: Arm, trial: Trial) -> dict[str, Any]:
    """Let an arm answer a prompt, and return its part of the record."""
    meter = Meter()
    trial.model.callbacks = [meter]
    started = time.perf_counter()
    answer, error = catch_errors(arm, trial)
    seconds = time.perf_counter() - started
    right = error is None and trial.is_right(answer.output)
    return {**asdict(answer), "right": right, "seconds": seconds, "error": error, **asdict(meter.totals)}


def catch_errors(arm: Arm, trial: Trial) -> tuple[Answer, str | None]:
    """Return the answer of an arm, or an empty one with the class of the exception, which is logged."""
    try:
        answer = arm.answer(trial)
        # UTF-8 cannot store a lone surrogate; another type than text raises here.
        return replace(answer, output=replace_surrogates(answer.output)), None
    except Exception as raised:
        logging.getLogger(__name__).exception("%s raised at prompt %s", arm.name, trial.prompt.key)
        return Answer(""), type(raised).__name__


def find_missing(arms: Sequence[Arm]) -> list[Arm]:
    """Return the arms whose library is not installed."""
    return [arm for arm in arms if arm.module and find_spec(arm.module) is None]


def read_version() -> str:
    """Return the commit of the repository, with a mark if files were changed since."""
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


@contextmanager
def hide_output() -> Iterator[None]:
    """Discard all that this process writes to its standard streams, also by native code and by logging."""
    with ExitStack() as stack:
        nowhere = stack.enter_context(Path(os.devnull).open("w", encoding="utf-8"))
        sys.stdout.flush()
        sys.stderr.flush()
        # Both: native code and old log handlers write to the descriptors, the rest to Python's streams.
        for descriptor in (1, 2):
            kept = os.dup(descriptor)
            stack.callback(os.close, kept)
            stack.callback(os.dup2, kept, descriptor)
            os.dup2(nowhere.fileno(), descriptor)
        stack.enter_context(redirect_stdout(nowhere))
        stack.enter_context(redirect_stderr(nowhere))
        yield
