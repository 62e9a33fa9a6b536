"""An attachment to whether the client takes it into its chain: what it carries has a form.

Learnt by asking the client with each field left out, empty, or of another kind.
"""

from collections.abc import Callable
from typing import Any

from plait.record import Record

GONE = frozenset({"companion_intro"})
"""Kinds that the client once wrote and now drops."""


def is_read(record: Record) -> bool:
    """Tells whether the client takes an attachment into its chain."""
    head = record.envelope.attachment
    kind = head.type if head else None
    if not kind or kind in GONE:
        return False
    has_form = FORMS.get(kind)
    return has_form is None or has_form(record.fields["attachment"])


def _says_something(fields: dict[str, Any]) -> bool:
    """Tells whether a hook that ran well left any words."""
    content = fields.get("content")
    printed = (str(fields.get(name) or "").strip() for name in ("stdout", "stderr"))
    return isinstance(content, str) and bool(content or any(printed))


def _is(kind: type, name: str) -> Callable[[dict[str, Any]], bool]:
    return lambda fields: isinstance(fields.get(name), kind)


FORMS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "file": _is(dict, "content"),
    "hook_additional_context": _is(list, "content"),
    "hook_success": _says_something,
    "invoked_skills": _is(list, "skills"),
    "task_reminder": _is(list, "content"),
    "todo_reminder": _is(list, "content"),
}
"""Kinds that are dropped where what they carry is not there, or of another form."""
