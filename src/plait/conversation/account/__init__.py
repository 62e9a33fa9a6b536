"""What a session sent to what of it was paid for again, and why."""

from plait.conversation.account.account import Account, account_of
from plait.conversation.account.model import Cause, PaidRequest, Parts

__all__ = ["Account", "Cause", "PaidRequest", "Parts", "account_of"]
