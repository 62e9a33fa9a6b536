"""Project folder names of working directories."""

import pytest

from plait.line import make_project_slug
from plait.line.discovery import compute_signed_hash, format_base36, split_utf16


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
def test_non_alphanumeric_characters_become_dashes(path: str, slug: str) -> None:
    assert make_project_slug(path) == slug


def test_a_long_path_is_cut_and_gets_a_hash() -> None:
    path = "/" + "a" * 250
    slug = make_project_slug(path)
    head, _, tail = slug.rpartition("-")
    assert head == "-" + "a" * 199
    assert tail == format_base36(abs(compute_signed_hash(split_utf16(path))))
    assert make_project_slug(path[:-1] + "b") != slug


def test_200_characters_fit() -> None:
    assert make_project_slug("/" + "a" * 199) == "-" + "a" * 199


@pytest.mark.parametrize(("number", "text"), [(0, "0"), (35, "z"), (36, "10"), (2**31, "zik0zk")])
def test_base36(number: int, text: str) -> None:
    assert format_base36(number) == text


def test_hash_is_signed_32_bit() -> None:
    assert compute_signed_hash(split_utf16("hello")) == 99162322
    assert compute_signed_hash(split_utf16("polygenelubricants")) == -(2**31)
