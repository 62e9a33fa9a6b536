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
    """Returns one of so many, drawn by a seed, in their order."""
    places = random.Random(SEED).sample(range(len(ones)), -(-len(ones) // count))
    return [ones[place] for place in sorted(places)]


def in_turn(ones: Sequence[T], others: Sequence[U], name_of: Callable[[T], str]) -> list[Case]:
    """Returns all pairs: each one with one of the others, in turn, and the rest in the long run."""
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
    "tests/agent/test_context.py::test_a_session_of_any_shape_goes_on": 5,
    "tests/edit/test_clone.py::test_a_clone_is_sent_as_its_source_is": 5,
    "tests/edit/test_clone.py::test_a_clone_differs_from_its_source_in_ids_only": 5,
    "tests/edit/test_clone.py::test_the_clone_of_a_clone_equals_the_clone": 5,
    "tests/edit/test_compress_properties.py::"
    "test_compressing_loses_no_prompt_and_breaks_no_rule": 5,
    "tests/edit/test_fork.py::test_a_clone_of_the_active_part_is_sent_as_its_source_is": 5,
    "tests/edit/test_fork.py::test_a_fork_sends_what_the_client_sent_at_that_point": 5,
    "tests/edit/test_switch.py::test_a_switched_session_continues_from_the_tip_of_the_branch": 5,
    "tests/edit/test_trim_presets.py::test_presets_are_idempotent_on_examples": 5,
    "tests/edit/test_trim_properties.py::test_trims_of_odd_sessions_keep_everything_else": 5,
    "tests/write/test_resume.py::test_the_next_prompt_follows_what_the_client_would_send": 5,
    "tests/redact/test_rates.py::test_both_engines_find_the_same": 5,
    # Every command, page and form against every attack.
    "tests/archive/test_export.py::test_hostile_words_are_inert_wherever_they_stand": 4,
    "tests/cli/test_hostile.py::test_nothing_commands_the_terminal": 6,
    "tests/cli/test_hostile.py::test_on_a_screen_too": 3,
    "tests/redact/test_ways_out.py::test_nothing_that_is_planted_leaves": 4,
    "tests/redact/test_ways_out.py::test_strictness_is_for_every_way_out": 3,
    "tests/redact/test_ways_out.py::test_the_test_would_see_it": 3,
    "tests/redact/test_same.py::test_every_form_becomes_in_a_record_what_it_becomes_alone": 4,
    # A browser, a process or a server for each case.
    "tests/archive/test_jobs.py::test_a_command_prints_the_same_by_several_processes": 3,
    "tests/archive/test_jobs.py::test_what_becomes_of_a_file_under_a_command_is_the_same": 3,
    "tests/archive/test_export_jobs.py::test_several_processes_draw_the_same": 3,
    "tests/browser/test_room.py::test_everybody_can_use_it_at_every_width": 3,
    "tests/conversation/test_prices.py::test_every_name_has_the_card_that_the_price_library_has": 4,
    "tests/line/test_workers.py::test_workers_end_with_their_parent": 3,
    "tests/tasks/test_by_page.py::test_three_steps_do_it": 3,
    "tests/web/test_axe.py::test_a_page_has_no_serious_fault": 4,
    "tests/web/test_edits.py::test_what_cannot_be_planned_is_told": 4,
    "tests/web/test_figures_walk.py::test_every_figure_leads_to_what_it_counts": 3,
    "tests/web/test_lists_browser.py::test_pages_are_whole_in_every_look": 4,
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
