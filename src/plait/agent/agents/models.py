"""A short name of a model, as definitions of agents have it, to the model that is meant."""

import re

FAMILIES = ("sonnet", "opus", "haiku", "fable")
INHERITED = "inherit"
VERSIONED = re.compile(r"claude-(?:sonnet|opus|haiku|fable)-(\d+(?:-\d{1,2})?)(?!\d)")
NEWEST = "5-5"


def model_named(name: str, session: str) -> str:
    """Returns the model that a name means for a session: a family, a whole name, or its own.

    A family is taken in the version of the session's model, so that both are of one time.
    """
    if name == INHERITED:
        return session
    if name not in FAMILIES:
        return name
    if f"-{name}-" in session:
        return session
    found = VERSIONED.search(session)
    return f"claude-{name}-{found[1] if found else NEWEST}"
