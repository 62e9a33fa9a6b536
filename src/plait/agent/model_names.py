"""Words such as `opus` to the names that the API has for models."""

SHORT = {
    "opus": "claude-opus-5-5",
    "sonnet": "claude-sonnet-5-5",
    "haiku": "claude-haiku-5-5",
}


def model_named(words: str) -> str:
    """Returns the name of a model that is meant; what is no short one is taken as it is."""
    return SHORT.get(words.strip().casefold(), words.strip())
