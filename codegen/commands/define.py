"""Defines flags of text in a subcommand's own set of flags."""

from __future__ import annotations

from absl import flags

# --help lists the flags under the module that calls this one.
flags.disclaim_key_flags()


def required(values: flags.FlagValues, name: str, what: str) -> flags.FlagHolder[str]:
    """Defines a flag that must be given."""
    return flags.DEFINE_string(name, None, what, required=True, flag_values=values)


def optional(values: flags.FlagValues, name: str, what: str) -> flags.FlagHolder[str | None]:
    """Defines a flag that may be left out; its value is then None."""
    return flags.DEFINE_string(name, None, what, flag_values=values)


def several(values: flags.FlagValues, name: str, what: str) -> flags.FlagHolder[list[str]]:
    """Defines a flag that may be given several times."""
    return flags.DEFINE_multi_string(name, [], what, flag_values=values)
