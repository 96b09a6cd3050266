"""Rules for words and letters, and for answers to choose from."""
