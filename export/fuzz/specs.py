"""Hypothesis strategies for specs of random modules."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any
from unittest import mock

import hypothesis
from hypothesis import strategies as st
from hypothesis.internal.conjecture import engine

from export.fuzz import draft
from export.fuzz.spec import Spec, Step

# Steps that graph passes look for are drawn more often.
_OFTEN = (
    *("convolution", "convolution", "convolution", "linear", "linear", "linear_and_activation", "residual_layer"),
    *("activation", "activation", "written_activation", "norm_of_channels", "norm_of_channels", "pad_and_convolve"),
    *("residual_layer", "combine", "combine", "attention", "attention", "cache", "permute", "view", "part", "pool"),
    *("written_norm", "embedding", "tied_linear", "again"),
    *("memory_format", "split_channels", "behind_permute", "one_channel", "tokens", "factorized"),
    *("flexible_attention", "sort", "select_first"),
    *("copied_buffer", "delay_line", "old_state", "write_of_view", "written_output", "assigned", "at_position"),
)
_STEPS_OF = (4, 10)
_NUMBERS = st.lists(st.integers(0, 63), max_size=14).map(tuple)
_KINDS = ("nothing", *sorted(draft.KINDS), *_OFTEN)  # Hypothesis shrinks to the first one.
_STEPS = st.lists(st.builds(Step, st.sampled_from(_KINDS), _NUMBERS), min_size=_STEPS_OF[0], max_size=_STEPS_OF[1])

SPECS = st.builds(Spec, _NUMBERS, _STEPS.map(tuple), _NUMBERS)


def run(test: Callable[[Spec], None], count: int, seed: int | str, **options: Any) -> None:
    """Calls a function with `count` random specs, the same ones for a seed. The options are settings of Hypothesis."""
    settings = hypothesis.settings(
        max_examples=count,
        database=None,
        deadline=None,
        suppress_health_check=[*hypothesis.HealthCheck],
        verbosity=hypothesis.Verbosity.quiet,
        **options,
    )
    with unmutated():
        hypothesis.seed(seed)(settings(hypothesis.given(SPECS)(test)))()


def unmutated() -> AbstractContextManager[Any]:
    """Makes Hypothesis draw each spec anew.

    Hypothesis changes each drawn spec some five times, and copies parts of the spec. So most specs have the steps of
    another one, and few kinds of steps occur.
    """
    runner, name = engine.ConjectureRunner, "generate_mutations_from"
    # A version of Hypothesis without this function draws as many specs, with fewer kinds of steps.
    return mock.patch.object(runner, name, lambda *_: None) if hasattr(runner, name) else contextlib.nullcontext()
