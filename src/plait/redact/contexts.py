"""The secrets that only their surroundings tell: all families of them, the most telling first."""

from plait.redact.addresses import ADDRESSES
from plait.redact.commands import COMMANDS
from plait.redact.files import FILES
from plait.redact.inputs import INPUTS
from plait.redact.model import Family
from plait.redact.named import NAMED
from plait.redact.nouns import NOUNS
from plait.redact.private_keys import PRIVATE_KEYS
from plait.redact.sentences import SENTENCES

__all__ = ["CONTEXTS", "NOUNS"]

CONTEXTS: tuple[tuple[Family, ...], ...] = (
    (*PRIVATE_KEYS, *ADDRESSES, *INPUTS, *COMMANDS, *FILES),
    (*NAMED, *SENTENCES),
)
"""Each row is searched for by an expression of its own."""
