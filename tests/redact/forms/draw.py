"""Chance to values: passwords, keys, names, hosts, addresses and numbers that nobody has."""

from random import Random

from tests.redact.letters import ALNUM, B64, DIGITS, HEX, LOWER, drawn
from tests.redact.planted import uuid

WORDS = (
    "Harbor Meadow Falcon Copper Winter Lantern Orchid Thunder Velvet Glacier Pepper Saturn "
    "Bramble Cobalt Juniper Marble Nimbus Quartz Raven Sparrow"
).split()
NAMES = (
    "mvandermeer ana.lima jkowalski2 tbergstrom rosalind_f hyamamoto dpetrov95 lschneider "
    "kofi.mensah svettel3 nguyenht bcastellano omarfaruk ewatanabe"
).split()
MACHINES = (
    "kestrel-9 dbm7 web-prod-03 build12 nas02 ana-thinkpad MBP-von-Lena bastion2 gpu-node-4".split()
)
FIRMS = "northwind-labs.io brightforge.net kestrelworks.com hafenwerk.de".split()


def secret(rng: Random, kind: int | None = None) -> str:
    """Return a secret of some kind: drawn by chance, or as people choose them."""
    kind = rng.randrange(7) if kind is None else kind
    match kind:
        case 0 | 1:
            return drawn(rng, ALNUM, rng.randrange(16, 33))
        case 2:
            return drawn(rng, LOWER + DIGITS, rng.randrange(12, 24))
        case 3:
            return drawn(rng, HEX, rng.choice((24, 32, 40)))
        case 4:
            return (
                drawn(rng, ALNUM, 5)
                + rng.choice("!#*+^~")
                + drawn(rng, ALNUM, rng.randrange(5, 12))
            )
        case 5:
            sign = rng.choice("!-_.+")
            return f"{rng.choice(WORDS)}{sign}{rng.choice(WORDS).lower()}{rng.randrange(10, 9999)}"
        case _:
            return drawn(rng, ALNUM + "-_", rng.randrange(20, 30)).strip("-_") + "x7"


def user(rng: Random) -> str:
    """Return the name of somebody."""
    return rng.choice(NAMES) if rng.random() < 0.7 else rng.choice(LOWER) + drawn(rng, LOWER, 7)


def host(rng: Random) -> str:
    """Return the name of a machine."""
    return (
        rng.choice(MACHINES)
        if rng.random() < 0.6
        else f"{drawn(rng, LOWER, 4)}-{rng.randrange(1, 40):02}"
    )


def address(rng: Random) -> str:
    """Return an address of the internet protocol."""
    part = rng.randrange
    match rng.randrange(6):
        case 0:
            return f"10.{part(1, 250)}.{part(1, 250)}.{part(2, 250)}"
        case 1:
            return f"192.168.{part(2, 250)}.{part(2, 250)}"
        case 2:
            return f"172.{part(16, 32)}.{part(1, 250)}.{part(2, 250)}"
        case 3:
            return f"2a01:4f8:{part(16, 9999):x}:{part(16, 9999):x}::{part(2, 99)}"
        case _:
            first = rng.choice((5, 34, 52, 83, 91, 145, 185))
            return f"{first}.{part(1, 250)}.{part(1, 250)}.{part(2, 250)}"


def phone(rng: Random) -> str:
    """Return the number of a telephone."""
    digits = drawn(rng, "23456789", 10)
    return rng.choice(
        (
            f"+49 17{digits[0]} {digits[1:8]}",
            f"+49 (0)30 {digits[:7]}",
            f"+1 {digits[:3]}-{digits[3:6]}-{digits[6:]}",
            f"({digits[:3]}) {digits[3:6]}-{digits[6:]}",
            f"+44 7{digits[:3]} {digits[3:9]}",
            f"+336{digits[:8]}",
            f"0{digits[:3]} {digits[3:]}",
            f"+1{digits}",
            f"{digits[:3]}-{digits[3:6]}-{digits[6:]}",
        )
    )


def email(rng: Random) -> str:
    """Return the mail address of somebody."""
    return f"{user(rng)}@{rng.choice(FIRMS)}"


def account(rng: Random, kind: str) -> str:
    """Return a number of an account: iban, card, cloud, uuid, social or plain."""
    match kind:
        case "i":
            return iban(rng)
        case "c":
            return card(rng)
        case "a":
            return drawn(rng, "123456789", 12)
        case "u":
            return uuid(rng)
        case "s":
            return f"{rng.randrange(200, 700)}-{rng.randrange(10, 99)}-{rng.randrange(1000, 9999)}"
        case "x":
            return drawn(rng, ALNUM, 16)
        case _:
            return drawn(rng, "123456789", rng.randrange(8, 12))


def iban(rng: Random) -> str:
    """Return a number of a bank account whose check digits are right."""
    bank = drawn(rng, DIGITS, 18)
    check = 98 - int(bank + "131400") % 97
    plain = f"DE{check:02}{bank}"
    if rng.random() < 0.5:
        return plain
    return " ".join(plain[i : i + 4] for i in range(0, len(plain), 4))


def card(rng: Random) -> str:
    """Return a number of a card whose check digit is right."""
    digits = "4" + drawn(rng, DIGITS, 14)
    total = 0
    for place, one in enumerate(reversed(digits)):
        value = int(one) * (2 if place % 2 == 0 else 1)
        total += value - 9 if value > 9 else value
    whole = digits + str(-total % 10)
    return rng.choice(
        (
            whole,
            " ".join(whole[i : i + 4] for i in range(0, 16, 4)),
            "-".join(whole[i : i + 4] for i in range(0, 16, 4)),
        )
    )


def long_base64(rng: Random, count: int) -> str:
    """Return base64 of chance."""
    return drawn(rng, B64, count)
