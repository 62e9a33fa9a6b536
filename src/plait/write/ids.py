"""Chance and a clock to the ids, names and times of new lines."""

from collections.abc import Callable
from datetime import UTC, datetime
from random import Random, SystemRandom
from uuid import UUID

from plait.write.names import readable_name

BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
Clock = Callable[[], datetime]


def now() -> datetime:
    """Returns the time by the system's clock."""
    return datetime.now(UTC)


class Ids:
    """Gives each id once, as the client and the API make them."""

    def __init__(
        self,
        random: Random | None = None,
        clock: Clock = now,
        uuid: Callable[[], str] | None = None,
    ) -> None:
        self._random = random or SystemRandom()
        self._clock = clock
        self.uuid = uuid or self._random_uuid
        """Gives a random UUID, of version 4."""

    def _random_uuid(self) -> str:
        return str(UUID(int=self._random.getrandbits(128), version=4))

    def moment(self) -> datetime:
        """Returns what the clock says."""
        return self._clock()

    def time(self) -> str:
        """Returns what the clock says as lines have it."""
        return written_time(self.moment())

    def message(self) -> str:
        """Returns the id of a response."""
        return f"msg_01{self._letters(22)}"

    def request(self) -> str:
        """Returns the id of a request."""
        return f"req_011C{self._letters(20)}"

    def call(self) -> str:
        """Returns the id of a call."""
        return f"toolu_01{self._letters(22)}"

    def agent(self, digits: int) -> str:
        """Returns the id of an agent: an `a` and so many digits of base 16."""
        return f"a{self._random.getrandbits(4 * digits):0{digits}x}"

    def name(self) -> str:
        """Returns a readable name for a session."""
        return readable_name(self._random)

    def _letters(self, count: int) -> str:
        return "".join(self._random.choice(BASE58) for _ in range(count))


def written_time(moment: datetime) -> str:
    """Returns a time in ISO 8601, UTC, to the millisecond."""
    utc = moment.astimezone(UTC).replace(tzinfo=None)
    return f"{utc.isoformat(timespec='milliseconds')}Z"
