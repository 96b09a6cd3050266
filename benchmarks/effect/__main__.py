"""The command line of the benchmark."""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path

from benchmarks.effect import __doc__ as description
from benchmarks.effect.arms import ARMS
from benchmarks.effect.arms.base import Arm
from benchmarks.effect.measurement import Plan, find_missing, measure
from benchmarks.effect.models import load_source, name_weights
from benchmarks.effect.prompts import Prompts, find_prompts, read_prompts
from benchmarks.effect.records import CacheError, Settings, default_folder, open_records
from benchmarks.effect.report import format_report
from benchmarks.measuring import print_load
from tests.evaluation.checks.ifeval import load_official


def read_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.effect",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--arms", type=read_arms, default=[*ARMS.values()], help=f"of {','.join(ARMS)}; default: all"
    )
    parser.add_argument("--prompts", type=int, default=100, help="number of prompts; default: %(default)s")
    parser.add_argument("--seeds", type=int, default=1, help="answers to each prompt; default: %(default)s")
    parser.add_argument("--split", choices=["tuning", "held-out"], default="tuning")
    parser.add_argument(
        "--retries", type=int, default=3, help="answers after the first; default: %(default)s"
    )
    parser.add_argument("--temperature", type=float, default=0.7, help="default: %(default)s")
    parser.add_argument("--max-tokens", type=int, default=400, help="of one reply; default: %(default)s")
    parser.add_argument("--run", default=None, help="name of the file of results; default: the split")
    parser.add_argument(
        "--cache", type=Path, default=default_folder(), help="its folder; default: %(default)s"
    )
    parser.add_argument("--report", action="store_true", help="print what is stored, and measure nothing")
    return parser.parse_args(arguments)


def read_arms(names: str) -> list[Arm]:
    """Read a list of arms."""
    if unknown := [name for name in names.split(",") if name not in ARMS]:
        raise argparse.ArgumentTypeError(f"no arm is called {unknown[0]!r}; give some of {', '.join(ARMS)}")
    return [ARMS[name] for name in names.split(",")]


def run(options: argparse.Namespace, prompts: Prompts) -> None:
    """Measure what is missing, and print the report."""
    settings = Settings(
        split=options.split,
        prompts=prompts.digest,
        model=name_weights(),
        temperature=options.temperature,
        max_tokens=options.max_tokens,
        retries=options.retries,
    )
    missing = find_missing(options.arms)
    arms = [arm for arm in options.arms if arm not in missing]
    plan = Plan(arms, prompts.chosen, options.seeds, options.retries, options.split == "held-out")
    with open_records(options.cache / f"{options.run or options.split}.jsonl", settings) as file:
        if not options.report:
            measure(plan, load_source(options.temperature, options.max_tokens), file)
        keys = {prompt.key for prompt in prompts.chosen}
        records = [
            record
            for record in file.records.values()
            if record.prompt in keys and record.seed < options.seeds
        ]
    print_heading(options, prompts, settings)
    stored = {record.arm for record in records}
    print(*format_report(records, options.arms, [arm for arm in missing if arm.name not in stored]), sep="\n")
    print_load()


def print_heading(options: argparse.Namespace, prompts: Prompts, settings: Settings) -> None:
    about = f"temperature {settings.temperature}, {settings.max_tokens} tokens a reply"
    print(
        f"{options.split} split, {len(prompts.chosen)} prompts, {options.seeds} seeds; {prompts.left_out} "
        "prompts of the split are left out, because their official checkers need a trained tokenizer or draw "
        f"a random letter\n{settings.model[:-52]}, {about}, {settings.retries} retries; intervals of 95 %\n"
    )


def main(arguments: list[str] | None = None) -> None:
    options = read_arguments(arguments)
    if options.temperature == 0 and options.seeds > 1:
        sys.exit("at temperature 0 every seed gives the same answer; give --seeds 1, or a temperature")
    path = find_prompts()
    if path is None or find_spec("if_verifiable") is None:
        print(
            "skipped: set EVALUATION_DATA to the folder above ifeval/prompts-300.jsonl, and install "
            "the official checkers (uv run --group ifeval ...)"
        )
        return
    load_official()  # before any second is counted
    try:
        run(options, read_prompts(path, options.split, options.prompts))
    except CacheError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
