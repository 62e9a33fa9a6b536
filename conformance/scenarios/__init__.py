"""Scripts and keys that make the client write sessions."""

from conformance.scenarios.model import Scenario
from conformance.scenarios.printed import PRINTED
from conformance.scenarios.shown import SHOWN
from conformance.scenarios.written import WRITTEN

__all__ = ["PRINTED", "SHOWN", "WRITTEN", "Scenario"]
