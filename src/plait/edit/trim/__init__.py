"""Sessions to such as take less to go on with: calls, thoughts, images and notes that go."""

from plait.edit.trim.carry import Gone, carry
from plait.edit.trim.model import Cut, Preset, TrimChoice, Way
from plait.edit.trim.plan import trim, without

__all__ = ["Cut", "Gone", "Preset", "TrimChoice", "Way", "carry", "trim", "without"]
