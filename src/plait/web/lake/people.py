"""Keys of several people to whose a request is, by a policy as it is at the time."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from collections.abc import Callable

from plait.lake.policy import Policy
from plait.web.guard import Keys, equal


class PeopleKeys(Keys):
    """Lets in whoever a policy knows by their key; the server's own secret opens nothing."""

    def __init__(self, secret: str, policy: Callable[[], Policy]) -> None:
        super().__init__(secret)
        self.policy = policy

    def cookie_for(self, given: str) -> str | None:
        """Returns the cookie of whoever has a key."""
        name = self.whose_key(given)
        return None if name is None else self._cookie(name)

    def whose_cookie(self, given: str) -> str | None:
        """Returns whose a cookie is; with another key in the policy it is nobody's."""
        name = _name_in(given)
        if name not in self.policy().people:
            return None
        return name if equal(given, self._cookie(name)) else None

    def whose_key(self, given: str) -> str | None:
        """Returns whose a key is."""
        return self.policy().who_has(given)

    def _cookie(self, name: str) -> str:
        key = self.policy().people[name].key
        return f"{urlsafe_b64encode(name.encode()).decode()}.{self.signed(f'{name} {key}')}"


def _name_in(cookie: str) -> str:
    try:
        return urlsafe_b64decode(cookie.partition(".")[0]).decode()
    except (Error, ValueError):
        return ""
