"""Sessions that are kept to what they are in an archive: sessions, and what is known of them."""

from plait.archive.keeping.gone import gone_sessions
from plait.archive.keeping.status import AtRisk, KeepStatus
from plait.archive.keeping.verbs import Keeping

__all__ = ["AtRisk", "KeepStatus", "Keeping", "gone_sessions"]
