"""Hypothesis strategies for specs of random modules."""

from __future__ import annotations

from hypothesis import strategies as st

from export.fuzz import draft
from export.fuzz.spec import Spec, Step

# Steps that graph passes look for are drawn more often.
_OFTEN = (
    *("convolution", "convolution", "convolution", "linear", "linear", "linear_and_activation", "residual_layer"),
    *("activation", "activation", "written_activation", "norm_of_channels", "norm_of_channels", "pad_and_convolve"),
    *("residual_layer", "combine", "combine", "attention", "attention", "cache", "permute", "view", "part", "pool"),
    *("written_norm", "embedding", "tied_linear", "again"),
)
_STEPS_OF = (6, 16)
_NUMBERS = st.lists(st.integers(0, 63), max_size=14).map(tuple)
_KINDS = ("nothing", *sorted(draft.KINDS), *_OFTEN)  # Hypothesis shrinks to the first one.
_STEPS = st.lists(st.builds(Step, st.sampled_from(_KINDS), _NUMBERS), min_size=_STEPS_OF[0], max_size=_STEPS_OF[1])

SPECS = st.builds(Spec, _NUMBERS, _STEPS.map(tuple), _NUMBERS)
