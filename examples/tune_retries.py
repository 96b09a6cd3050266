"""Which retry policy pays? Compares three policies with the default on bundled tasks, on the embedded model.

First, it replays recorded attempts under other policies, which takes seconds and calls no model: they are in
``tune_retries_recorded``. Then it runs the tasks, which takes up to five minutes on two cores. The finished
runs are kept in ``tune_retries_study`` beside this file: started again, it goes on where it was.
"""

from pathlib import Path

from orchestrator import (
    NamedPolicy,
    ResampleRule,
    RetryPolicy,
    SearchBudget,
    TuneSpec,
    load_recorded_runs,
    replay,
    tune,
)

HERE = Path(__file__).parent
SPEC = TuneSpec(
    name="tune_retries_study",
    tasks=str(HERE / "tune_retries_tasks.yaml"),
    models=["local"],
    planning=False,
    hold_out=0.5,
    policies={
        "three retries": {"max_retries": 3},
        "three new samples": {"max_retries": 3, "strategies": [{"use": "resample"}]},
        "output shown": {"max_retries": 3, "strategies": [{"use": "feedback", "last_output": "turn"}]},
    },
    budget=SearchBudget(seconds=300),
)


RECORDED = SPEC.model_copy(update={"name": "tune_retries_recorded"})


def replay_recorded() -> None:
    policies = [NamedPolicy(f"{n} retries", RetryPolicy(max_retries=n)) for n in (1, 2, 5)]
    policies.append(NamedPolicy("two new samples", RetryPolicy(strategies=[ResampleRule()])))
    for replayed in replay(load_recorded_runs(RECORDED, HERE), policies):
        low, high = replayed.bounds
        print(
            f"replayed {replayed.policy}: success {low:.2f} to {high:.2f}, "
            f"{replayed.not_recorded} of {replayed.runs} not recorded"
        )


def main() -> None:
    replay_recorded()
    result = tune(SPEC, folder=HERE)
    for trial in result.trials:
        low, high = trial.interval("success") or (0.0, 1.0)
        print(f"{trial.candidate.name}: success {trial.mean('success'):.2f} ({low:.2f} to {high:.2f})")
    print(result.recommendation.sentence)
    print(result.recommendation.refutation)
    if result.recommendation.held_out is not None:
        best, default = result.recommendation.held_out
        print(f"held out: {best.mean('success'):.2f}, with the default {default.mean('success'):.2f}")


if __name__ == "__main__":
    main()
