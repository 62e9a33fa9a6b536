"""Logs and plans to the rules for written sessions that they break."""

from plait.edit.check.model import Rule
from plait.edit.check.plan import new_violations
from plait.edit.check.rules import RULES, records_among, violations_of

__all__ = ["RULES", "Rule", "new_violations", "records_among", "violations_of"]
