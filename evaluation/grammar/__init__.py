"""Writes grammars of replies from checks, for servers that write by a grammar, such as llama.cpp's."""

from evaluation.grammar.writing import write_grammar

__all__ = ["write_grammar"]
