"""Redaction of texts and records, with a report of what was found.

    plait.redact("export GITHUB_TOKEN=…")        the text, redacted

    redactor = plait.redact.Redactor()
    redactor.learn(plait.read(path))             what one place reveals is replaced everywhere
    for record in redactor.records(plait.read(path)): ...
    redactor.report.kinds                        {"github token": 3, "user": 128}

The package itself can be called, because `plait.redact` is both a module and a function.

A secret is known by its own form (`tokens`), by a label (`labelled`), by the file or format around it
(`contexts`), by a command (`command_lines`); `likelihood` says what a value looks like, `strict` adds
what only looks random, `rules` holds the rules of a user, and `redactor` puts them together.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plait.redact.model import GROUPS, Found, Group, Kind, Place, Report
    from plait.redact.redactor import Redactor, is_log, redact_log, restore_log
    from plait.redact.rules import Rules, add_own_names, parse_rules
    from plait.redact.stand_ins import restore_text

__all__ = [
    "GROUPS",
    "Found",
    "Group",
    "Kind",
    "Place",
    "Redactor",
    "Report",
    "Rules",
    "add_own_names",
    "is_log",
    "parse_rules",
    "redact",
    "redact_log",
    "restore_log",
    "restore_text",
]
HOMES = {
    "GROUPS": "plait.redact.model",
    "Found": "plait.redact.model",
    "Group": "plait.redact.model",
    "Kind": "plait.redact.model",
    "Place": "plait.redact.model",
    "Redactor": "plait.redact.redactor",
    "Report": "plait.redact.model",
    "Rules": "plait.redact.rules",
    "is_log": "plait.redact.redactor",
    "redact_log": "plait.redact.redactor",
    "restore_text": "plait.redact.stand_ins",
    "restore_log": "plait.redact.redactor",
    "parse_rules": "plait.redact.rules",
    "add_own_names": "plait.redact.rules",
}
"""The module of each name: whoever needs only placeholders loads no expressions."""


def redact(text: str, rules: "Rules | None" = None) -> str:
    """Return a text without secrets, user names, hosts, addresses and accounts."""
    from plait.redact.redactor import Redactor

    return Redactor(rules).text(text)


def __getattr__(name: str) -> object:
    if name not in HOMES:
        raise AttributeError(f"module 'plait.redact' has no attribute '{name}'")
    found = globals()[name] = getattr(import_module(HOMES[name]), name)
    return found


class _Verb(ModuleType):
    """A package that can be called."""

    def __call__(self, text: str, rules: "Rules | None" = None) -> str:
        return redact(text, rules)


sys.modules[__name__].__class__ = _Verb
