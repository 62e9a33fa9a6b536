"""Hooks of the client's settings to what they are told, what they say, and what comes of it."""

from plait.agent.hooks.model import EVENTS, Effect, Event, Hook
from plait.agent.hooks.session import SessionHooks

__all__ = ["EVENTS", "Effect", "Event", "Hook", "SessionHooks"]
