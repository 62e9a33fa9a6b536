"""What the client and the SDK make of edited sessions, compared with Plait and the original."""

from conformance.edits.compressed import COMPRESSIONS
from conformance.edits.operations import OPERATIONS
from conformance.edits.redactions import REDACTIONS
from conformance.edits.travels import TRAVELS
from conformance.edits.trims import TRIMS

ALL = {**OPERATIONS, **TRIMS, **COMPRESSIONS, **REDACTIONS, **TRAVELS}
"""Every operation that is tried, by its name."""

__all__ = ["ALL"]
