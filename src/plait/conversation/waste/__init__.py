"""What was paid for and need not have been, by kind."""

from plait.conversation.waste.losses import losses_in
from plait.conversation.waste.model import Loss, WasteKind

__all__ = ["Loss", "WasteKind", "losses_in"]
