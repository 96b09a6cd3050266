"""Chat models: embedded, Ollama, OpenAI-compatible, or any GGUF file."""
