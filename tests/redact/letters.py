"""Letters to what chance draws from them."""

from random import Random

LOWER = "abcdefghijklmnopqrstuvwxyz"
UPPER = LOWER.upper()
DIGITS = "0123456789"
HEX = "0123456789abcdef"
ALNUM = LOWER + UPPER + DIGITS
URL = ALNUM + "-_"
B64 = ALNUM + "+/"


def drawn(rng: Random, letters: str, count: int) -> str:
    """Return letters drawn by chance, with at least one digit where there are digits."""
    text = "".join(rng.choice(letters) for _ in range(count))
    if count < 3 or not set(letters) & set(DIGITS):
        return text
    return text[:-2] + rng.choice(sorted(set(letters) & set(DIGITS))) + text[-1]
