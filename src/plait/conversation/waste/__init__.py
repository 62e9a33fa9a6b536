"""What was paid for and need not have been, by kind."""

from plait.conversation.waste.model import Loss, WasteKind

__all__ = ["Loss", "WasteKind"]
