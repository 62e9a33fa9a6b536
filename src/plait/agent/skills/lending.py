"""What a command says that it needs to the rules that count while it is followed."""

from collections.abc import Sequence

from plait.agent.rules import rule_of
from plait.errors import UserError


def rules_in(texts: Sequence[str]) -> tuple[str, ...]:
    """Returns the rules among some texts; what is none allows nothing."""
    found = []
    for text in texts:
        try:
            rule_of(text)
        except UserError:
            continue
        found.append(text)
    return tuple(found)
