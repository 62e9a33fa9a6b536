"""Random shapes that the client reads differently, with the reason for each.

No client writes such files. A shape that is not named here must be read alike.
"""

from dataclasses import replace

from conformance.model import Mark, Verdict

COLUMNS = ("resumed", "leaf", "messages", "full", "sdk")

KNOWN = {
    "edges 31": (
        "a boundary hangs on the message that it preserves: once that hangs on the summary, all "
        "three form a circle that no branch leaves, and the client begins at the boundary itself"
    ),
}

PRESERVED_TWICE = (
    "a boundary with a parent preserves what an earlier boundary preserved: "
    "the client then finds the chain before both"
)
APART = (
    "a call and its result hang on different branches, and only one of them is on the way: "
    "the check says so, and the command refuses"
)
ACROSS = (
    "one response has parts on both sides of a prompt: for the client all between them is of it, "
    "with an attachment that hangs on a message there; a fork leaves that one on its branch"
)
CIRCLE = (
    "a message stands once more under what answers it, so that its parents form a circle: where "
    "the client enters that depends on what else is in the file"
)
SHARED = (
    "one response has parts on two branches: the client sends them all, and the notes between "
    "them, whichever branch it stands on"
)
READ = ("leaf", "messages", "full")
KNOWN_EDITS: dict[str, dict[str, str]] = {
    "fork fuzz mixed 26": {"claim": ACROSS},
    "fork fuzz mixed 35": dict.fromkeys(READ, CIRCLE),
    "fork fuzz edges 115": {"claim": CIRCLE},
    "switch fuzz mixed 56": {"claim": SHARED},
    "fork fuzz mixed 179": {"check": PRESERVED_TWICE},
} | {
    f"graft {name}": {"check": APART}
    for name in (
        "examples parallel-without-message-id",
        "examples result-claimed-from-another-answer",
        "fuzz mixed 17",
        "fuzz tools 27",
        "fuzz tools 48",
        "fuzz tools 54",
        "fuzz tools 66",
        "fuzz mixed 98",
        "fuzz tools 132",
        "fuzz tools 174",
        "fuzz mixed 188",
        "fuzz mixed 194",
    )
}
"""By operation and case, then by what differs: why that is no fault of the edit."""


def explained(verdict: Verdict) -> Verdict:
    """Return a verdict on a known shape with the reason in place of the difference."""
    if verdict.is_equal or verdict.name not in KNOWN:
        return verdict
    differing = [one for one in COLUMNS if getattr(verdict, one) is Mark.DIFFERENT]
    return replace(verdict, why=KNOWN[verdict.name], **dict.fromkeys(differing, Mark.EXPLAINED))
