"""Trusted projects: from the client's state, or decided here."""

import json
from pathlib import Path
from typing import Any

import pytest

from plait.chat.settings import TrustStore


def make_store(tmp_path: Path, configuration: str = ".claude") -> TrustStore:
    return TrustStore(tmp_path / configuration, tmp_path / "own" / "trusted.json")


def write_state(path: Path, projects: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"projects": projects}), encoding="utf-8")


def test_nothing_is_trusted_by_default(tmp_path: Path) -> None:
    assert not make_store(tmp_path).is_trusted(tmp_path / "shop")


def test_trust_includes_everything_below(tmp_path: Path) -> None:
    make_store(tmp_path).add(tmp_path / "shop")
    make_store(tmp_path).add(tmp_path / "other")
    trust = make_store(tmp_path)
    assert trust.is_trusted(tmp_path / "shop")
    assert trust.is_trusted(tmp_path / "shop/deep/er")
    assert trust.is_trusted(tmp_path / "other")
    assert not trust.is_trusted(tmp_path)
    assert not trust.is_trusted(tmp_path / "shopping")


@pytest.mark.parametrize(
    ("configuration", "place", "is_read"),
    [
        (".claude", ".claude.json", True),
        (".claude", ".claude/.claude.json", True),
        ("config", "config/.claude.json", True),
        ("config", ".claude.json", False),
    ],
)
def test_client_trust_is_used(
    tmp_path: Path, configuration: str, place: str, is_read: bool
) -> None:
    shop = tmp_path / "shop"
    write_state(tmp_path / place, {str(shop): {"hasTrustDialogAccepted": True}})
    assert make_store(tmp_path, configuration).is_trusted(shop / "deep") == is_read


@pytest.mark.parametrize("projects", [[], {"SHOP": 1}, {"SHOP": {"hasTrustDialogAccepted": 1}}, 7])
def test_unreadable_trust_files_trust_nothing(tmp_path: Path, projects: Any) -> None:
    shop = tmp_path / "shop"
    text = json.dumps({"projects": projects}).replace("SHOP", str(shop))
    (tmp_path / ".claude.json").write_text(text, encoding="utf-8")
    (tmp_path / "own").mkdir()
    (tmp_path / "own/trusted.json").write_text("broken", encoding="utf-8")
    assert not make_store(tmp_path).is_trusted(shop)
