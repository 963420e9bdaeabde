"""The library of generated files: its label and its names in C++."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass

from codegen.cpp import template


@dataclass(frozen=True, slots=True)
class Source:
    """A library with generated files.

    Attributes:
        label: the library's label.
        yaml_names: the short names of the YAML files with the operators.
    """

    label: str
    yaml_names: tuple[str, ...]

    @property
    def library(self) -> str:
        """The target's name as a C++ name. Several targets may have the same C++ name."""
        name = re.sub(r"\W", "_", self.label.rpartition(":")[2], flags=re.ASCII)
        return f"_{name}" if name[0].isdigit() else name

    @property
    def namespace(self) -> str:
        """The C++ namespace of functions that only the library's own files call.

        A checksum of the label distinguishes libraries of the same name.
        """
        return f"{self.library}_{zlib.crc32(self.label.encode()):08x}"

    def fill(self, name: str, /, **values: object) -> str:
        """Returns the text of a template for a whole file."""
        return template.fill(
            name,
            label=self.label,
            library=self.library,
            namespace=self.namespace,
            yaml_names=" and ".join(self.yaml_names),
            **values,
        )
