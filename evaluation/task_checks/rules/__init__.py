"""The rules of the grammar: each reads a sentence, and finds requirements of one kind."""
