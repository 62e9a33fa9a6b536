"""Working directories to project folders."""

import pytest

from plait.line import slug_of
from plait.line.discover import base36, signed_hash, utf16_units


# checklist: P9
@pytest.mark.parametrize(
    ("path", "slug"),
    [
        ("/home/dev/shop", "-home-dev-shop"),
        ("/home/dev/my_app.v2", "-home-dev-my-app-v2"),
        ("C:\\Users\\me", "C--Users-me"),
        ("/home/dev/café", "-home-dev-caf-"),
        ("/home/dev/cafe\u0301", "-home-dev-caf-"),
        ("/x/😀", "-x---"),
        ("", ""),
    ],
)
def test_all_but_ascii_letters_and_digits_become_dashes(path: str, slug: str) -> None:
    assert slug_of(path) == slug


def test_a_long_path_is_cut_and_told_apart_by_its_hash() -> None:
    path = "/" + "a" * 250
    slug = slug_of(path)
    head, _, tail = slug.rpartition("-")
    assert head == "-" + "a" * 199
    assert tail == base36(abs(signed_hash(utf16_units(path))))
    assert slug_of(path[:-1] + "b") != slug


def test_200_characters_are_not_too_long() -> None:
    assert slug_of("/" + "a" * 199) == "-" + "a" * 199


@pytest.mark.parametrize(("number", "text"), [(0, "0"), (35, "z"), (36, "10"), (2**31, "zik0zk")])
def test_base36(number: int, text: str) -> None:
    assert base36(number) == text


def test_the_hash_is_signed_and_of_32_bits() -> None:
    assert signed_hash(utf16_units("hello")) == 99162322
    assert signed_hash(utf16_units("polygenelubricants")) == -(2**31)
