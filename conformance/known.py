"""Shapes by chance to why the client reads them in another way: looked into, one by one.

No client writes such files. A shape that is not named here must be read alike.
"""

from dataclasses import replace

from conformance.model import Mark, Verdict

COLUMNS = ("resumed", "leaf", "messages", "sdk")

REUSED = (
    "entries on both sides of another response have one message id: "
    "the client joins and orders them in a way that is not settled"
)
KNOWN = {
    "mixed 17": (
        "a result hangs on a call that is not its own, and the one it answers has no message id: "
        "the client puts it behind the call that it answers"
    ),
    "edges 31": (
        "a boundary hangs on the message that it preserves: once that hangs on the summary, "
        "all three form a circle, and the client enters it at the boundary"
    ),
    "tools 69": REUSED,
    "tools 96": REUSED,
    "mixed 116": (
        "a blank answer has the message id of an earlier response: the client leaves it out at "
        "the end, and sends '(no content)' elsewhere"
    ),
    "tools 135": REUSED,
    "tools 138": REUSED,
    "tools 147": REUSED,
    "mixed 179": (
        "a boundary with a parent preserves what an earlier boundary preserved: "
        "the client then finds the chain before both"
    ),
    "tools 192": REUSED,
    "tools 237": REUSED,
}


def explained(verdict: Verdict) -> Verdict:
    """Returns a verdict on a known shape with the reason in place of the difference."""
    if verdict.is_equal or verdict.name not in KNOWN:
        return verdict
    differing = [one for one in COLUMNS if getattr(verdict, one) is Mark.DIFFERENT]
    return replace(verdict, why=KNOWN[verdict.name], **dict.fromkeys(differing, Mark.EXPLAINED))
