"""Sessions whose logs are gone to what is left of them, put together and marked incomplete."""

from plait.keep.rescue.leftovers import leftovers_in
from plait.keep.rescue.lost import Lost, lost_sessions
from plait.keep.rescue.made_log import INCOMPLETE, found_words, made_files
from plait.keep.rescue.model import Known, Leftovers, LostSession
from plait.keep.rescue.rescuing import Rescued, rescue, together

__all__ = [
    "INCOMPLETE",
    "Known",
    "Leftovers",
    "Lost",
    "LostSession",
    "Rescued",
    "found_words",
    "leftovers_in",
    "lost_sessions",
    "made_files",
    "rescue",
    "together",
]
