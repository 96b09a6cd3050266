"""Which retry policy pays? Compares three policies with the default on bundled tasks, on the embedded model.

It runs the tasks, which takes up to five minutes on two cores. The replies of the model are kept in
``tune_retries_study`` beside this file: started again, it goes on where it was. Then it replays the recorded
attempts under other policies, which takes seconds and calls no model.
"""

from pathlib import Path

from orchestrator import RetryPolicy, TuneSpec, replay, tune
from orchestrator.retry import ResampleRule
from orchestrator.study.tune import TuneResult

HERE = Path(__file__).parent
SPEC = TuneSpec(
    name="tune_retries_study",
    tasks=str(HERE / "tune_retries_tasks.yaml"),
    model="local",
    planning=False,
    hold_out=0.5,
    space={
        "max_retries": [3],
        "strategies": [
            [{"use": "feedback"}],
            [{"use": "resample"}],
            [{"use": "feedback", "last_output": "turn"}],
        ],
    },
)


def main() -> None:
    result = tune(SPEC, folder=HERE)
    for trial in result.trials:
        low, high = trial.interval or (0.0, 1.0)
        print(f"{trial.name}: success {trial.success:.2f} ({low:.2f} to {high:.2f})")
    print(result.sentence)
    if result.held_out is not None:
        best, default = result.held_out
        print(f"held out: {best.success:.2f}, with the default {default.success:.2f}")
    replay_recorded(result)


def replay_recorded(result: TuneResult) -> None:
    policies = {f"{n} retries": RetryPolicy(max_retries=n) for n in (1, 2, 5)}
    policies["two new samples"] = RetryPolicy(strategies=[ResampleRule()])
    for replayed in replay(result.states, policies):
        low, high = replayed.bounds
        print(
            f"replayed {replayed.policy}: success {low:.2f} to {high:.2f}, "
            f"{replayed.not_recorded} of {replayed.runs} not recorded"
        )


if __name__ == "__main__":
    main()
