"""A working directory to the name of its project folder."""

import unicodedata

LONGEST = 200
BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"
PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")


def slug_of(directory: str) -> str:
    """Returns the folder name that the client gives to the sessions of a real path.

    It cannot be turned back: different paths may share a slug.
    """
    path = unicodedata.normalize("NFC", directory)
    units = utf16_units(path)
    slug = "".join(chr(unit) if chr(unit) in PLAIN else "-" for unit in units)
    if len(slug) <= LONGEST:
        return slug
    return f"{slug[:LONGEST]}-{base36(abs(signed_hash(units)))}"


def utf16_units(text: str) -> list[int]:
    """Returns the code units that the client's language counts: two for an emoji."""
    encoded = text.encode("utf-16-le", "surrogatepass")
    return [low | high << 8 for low, high in zip(encoded[::2], encoded[1::2], strict=True)]


def signed_hash(units: list[int]) -> int:
    """Returns the 32-bit signed hash `h * 31 + unit`."""
    value = 0
    for unit in units:
        value = (value * 31 + unit) & 0xFFFFFFFF
    return value - (1 << 32) if value >= 1 << 31 else value


def base36(number: int) -> str:
    """Writes a number in base 36, as the client does."""
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = BASE36[digit] + digits
    return digits or "0"
