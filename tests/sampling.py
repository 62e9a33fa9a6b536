"""Samples: which cases run in `make test`, and which only in `make test-long`."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import pytest

T = TypeVar("T")
U = TypeVar("U")
Case = Any  # what pytest.param gives has no public name


SEED = 23
EACH_AND_ALL = [5, pytest.param(1, marks=pytest.mark.long, id="all")]
"""One of so many real sessions in every run, and all of them in the long one."""


def one_of(count: int, ones: Sequence[T]) -> list[T]:
    """Return one of so many, drawn by a seed, in their order."""
    places = random.Random(SEED).sample(range(len(ones)), -(-len(ones) // count))
    return [ones[place] for place in sorted(places)]


def in_turn(ones: Sequence[T], others: Sequence[U], name_of: Callable[[T], str]) -> list[Case]:
    """Return all pairs: each one with one of the others, in turn, and the rest in the long run."""
    return [
        pytest.param(
            one,
            other,
            id=f"{name_of(one)}-{other}",
            marks=[] if at % len(others) == turn else pytest.mark.long,
        )
        for at, one in enumerate(ones)
        for turn, other in enumerate(others)
    ]


EVERY: dict[str, int] = {
    # Near-equal cases over all resume cases and examples: they differ in what they are made of.
    "tests/chat/test_context.py::test_session_of_any_shape_continues": 5,
    "tests/edit/test_clone.py::test_a_clone_differs_from_its_source_in_ids_only": 5,
    "tests/edit/test_compress_properties.py::test_compressing_keeps_prompts_and_breaks_no_rule": 5,
    "tests/edit/test_fork.py::test_clone_of_the_active_branch_sends_the_same_context": 5,
    "tests/edit/test_fork.py::test_a_fork_sends_what_the_client_sent_at_that_point": 5,
    "tests/edit/test_switch.py::test_a_switched_session_continues_from_the_tip_of_the_branch": 5,
    "tests/edit/test_trim_presets.py::test_presets_are_idempotent_on_examples": 5,
    "tests/edit/test_trim_properties.py::test_trims_of_odd_sessions_keep_everything_else": 5,
    "tests/write/test_resume.py::test_next_prompt_follows_the_clients_leaf": 5,
    "tests/redact/test_rates.py::test_both_engines_find_the_same": 5,
    # Every command, page and form against every attack.
    "tests/archive/test_export.py::test_hostile_text_is_inert": 4,
    "tests/cli/test_hostile.py::test_output_cannot_control_the_terminal": 6,
    "tests/cli/test_hostile.py::test_output_on_a_terminal_is_safe": 3,
    "tests/redact/test_ways_out.py::test_no_planted_value_leaves": 4,
    "tests/redact/test_ways_out.py::test_strict_applies_to_every_output": 3,
    "tests/redact/test_ways_out.py::test_test_detects_leaks": 3,
    "tests/redact/test_same.py::test_forms_agree_in_records_and_alone": 4,
    # A browser, a process or a server for each case.
    "tests/archive/test_jobs.py::test_parallel_command_output_equals_serial": 3,
    "tests/archive/test_jobs.py::test_files_changed_under_a_command_give_the_same_output": 3,
    "tests/archive/test_export_jobs.py::test_parallel_export_equals_serial": 3,
    "tests/browser/test_room.py::test_accessible_at_every_width": 3,
    "tests/cli/test_start_up.py::test_usage_errors_are_reported_fast": 3,
    "tests/conversation/test_prices.py::test_every_model_name_matches_the_library": 4,
    "tests/line/test_workers.py::test_workers_end_with_their_parent": 3,
    "tests/tasks/test_by_page.py::test_three_steps_are_enough": 3,
    "tests/web/test_axe.py::test_pages_have_no_serious_violation": 4,
    "tests/web/test_edits.py::test_impossible_plan_is_refused_with_a_reason": 4,
    "tests/web/test_figures_walk.py::test_every_figure_links_to_what_it_counts": 3,
    "tests/web/test_lists_browser.py::test_pages_are_intact_in_every_theme_and_width": 4,
    # Long by itself.
    "tests/redact/test_many_values.py::test_memory_is_bounded_in_one_pass": 0,
}
"""Of these tests `make test` runs every nth case, `make test-long` all; 0: only `make test-long`."""


def mark_long_cases(items: Sequence[pytest.Item]) -> None:
    """Mark the cases that `make test` leaves out."""
    seen: Counter[str] = Counter()
    for item in items:
        name = item.nodeid.partition("[")[0]
        every = EVERY.get(name)
        if every is None or item.get_closest_marker("long"):
            continue
        if not every or seen[name] % every:
            item.add_marker(pytest.mark.long)
        seen[name] += 1
