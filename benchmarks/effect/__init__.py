"""Measures what a claimed success is worth, on prompts whose fulfilment a program can check.

    EVALUATION_DATA=FOLDER uv run --group ifeval python -m benchmarks.effect --prompts 100
    EVALUATION_DATA=FOLDER uv run --group ifeval --with pydantic-ai-slim --with crewai --with instructor \
        python -m benchmarks.effect --arms one-shot,from-task,pydantic-ai,crewai,reflection

FOLDER holds ``ifeval/prompts-300.jsonl``. Every arm answers the same prompts with the same embedded model,
token limit and temperature; IFEval's official checkers decide which outputs are right. Each run is stored in
a cache outside of the repository, so that a measurement that was stopped continues.
"""
