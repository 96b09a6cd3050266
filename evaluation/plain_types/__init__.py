"""The types of cases and contracts as plain dicts, for type checkers and editors.

``python -m tests.evaluation.inputs.plain_types`` writes them from the models. The constructors of the models
take the same types, so that ``EvaluationContract(required_content=[{"text": "world"}])`` is checked, too.
"""
