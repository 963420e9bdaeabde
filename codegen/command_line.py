"""The flags of the subcommands, kept apart from each other: each module has a set of its own."""

from __future__ import annotations

from absl import flags


def flag_values() -> flags.FlagValues:
    """An empty set of flags."""
    return flags.FlagValues()  # type: ignore[no-untyped-call]
