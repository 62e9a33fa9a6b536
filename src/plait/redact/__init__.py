"""Text and records to the same without secrets, with a report.

    plait.redact("export GITHUB_TOKEN=…")        the text, redacted

    redactor = plait.redact.Redactor()
    redactor.learn(plait.read(path))             what one place tells is replaced everywhere
    for record in redactor.records(plait.read(path)): ...
    redactor.report.kinds                        {"github token": 3, "user": 128}

The package itself can be called, because `plait.redact` names both.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plait.redact.log_text import is_log, redacted_log, restored_log
    from plait.redact.machine import with_own_names
    from plait.redact.model import GROUPS, Found, Group, Kind, Place, Report
    from plait.redact.redactor import Redactor
    from plait.redact.rules import Rules, rules_of
    from plait.redact.stand_ins import restored

__all__ = [
    "GROUPS",
    "Found",
    "Group",
    "Kind",
    "Place",
    "Redactor",
    "Report",
    "Rules",
    "is_log",
    "redact",
    "redacted_log",
    "restored",
    "restored_log",
    "rules_of",
    "with_own_names",
]
HOMES = {
    **dict.fromkeys(("is_log", "redacted_log", "restored_log"), "log_text"),
    **dict.fromkeys(("GROUPS", "Found", "Group", "Kind", "Place", "Report"), "model"),
    **dict.fromkeys(("Rules", "rules_of"), "rules"),
    "Redactor": "redactor",
    "restored": "stand_ins",
    "with_own_names": "machine",
}
"""Where each name stands: who only asks for a stand-in loads no expressions."""


def redact(text: str, rules: "Rules | None" = None) -> str:
    """Returns a text without secrets, user names, hosts, addresses and accounts."""
    from plait.redact.redactor import Redactor

    return Redactor(rules).text(text)


def __getattr__(name: str) -> object:
    if name not in HOMES:
        raise AttributeError(f"module 'plait.redact' has no attribute '{name}'")
    found = globals()[name] = getattr(import_module(f"plait.redact.{HOMES[name]}"), name)
    return found


class _Verb(ModuleType):
    """A package that can be called."""

    def __call__(self, text: str, rules: "Rules | None" = None) -> str:
        return redact(text, rules)


sys.modules[__name__].__class__ = _Verb
