"""Chat models: embedded, Ollama, OpenAI-compatible, any GGUF file, or a hosted provider's."""
