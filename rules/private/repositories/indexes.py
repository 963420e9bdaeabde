"""Where pip looks for packages on this machine."""

from __future__ import annotations

import ast
import dataclasses
import os
import subprocess
import sys

# What overrides what, the strongest last.
_SECTIONS = ("global", "install", ":env:")


@dataclasses.dataclass(frozen=True)
class Indexes:
    """What pip's configuration names.

    Attributes:
        main: the address of the main index; empty for the tools' default.
        extra: addresses of more indexes.
        find_links: folders and pages of files.
        is_offline: whether there are no indexes, only find_links.
        certificates: a file of certificates; empty for the system's.
    """

    main: str = ""
    extra: tuple[str, ...] = ()
    find_links: tuple[str, ...] = ()
    is_offline: bool = False
    certificates: str = ""


def parse(listing: str) -> Indexes:
    """Reads what `pip config list` prints."""
    found: dict[str, str] = {}
    for section in _SECTIONS:
        for line in listing.splitlines():
            name, _, value = line.partition("=")
            if name.startswith(section + "."):
                found[name.removeprefix(section + ".")] = str(ast.literal_eval(value))
    return Indexes(
        main=found.get("index-url", ""),
        extra=tuple(found.get("extra-index-url", "").split()),
        find_links=tuple(found.get("find-links", "").split()),
        is_offline=found.get("no-index", "").lower() in ("1", "on", "true", "yes"),
        certificates=found.get("cert", ""),
    )


def of_machine() -> Indexes:
    """Those of this machine; none where there is no pip."""
    listing = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True)
    return parse(listing.stdout)


def uv_options(indexes: Indexes, with_extra: bool) -> list[str]:
    """The options of uv for these indexes.

    Args:
        indexes: where to look.
        with_extra: whether to look in the indexes beside the main one, too.
    """
    options = [f"--find-links={place}" for place in indexes.find_links]
    if indexes.is_offline:
        return [*options, "--no-index"]
    if indexes.main:
        options.append(f"--default-index={indexes.main}")
    if with_extra:
        options += [f"--index={address}" for address in indexes.extra]
        # As pip does: the newest version, wherever it is.
        options.append("--index-strategy=unsafe-best-match")
    return options


def uv_environment(indexes: Indexes) -> dict[str, str]:
    """The environment of a uv that looks where pip does: another configuration of uv would have other indexes."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("UV_")}
    if indexes.certificates:
        environment.setdefault("SSL_CERT_FILE", indexes.certificates)
    return environment
