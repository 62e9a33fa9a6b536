"""Numbers to the words that notes of plans tell them in."""


def many(count: int, noun: str) -> str:
    """Writes a number with its noun."""
    plural = noun + ("es" if noun.endswith("s") else "s")
    return f"{count} {noun if count == 1 else plural}"
