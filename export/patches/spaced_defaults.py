"""Patch: ExecuTorch finds the out variants of operators whose defaults have spaces or commas.

**What**: replaces `FunctionSchema` in `executorch.exir.operator.convert`, where `_pybind_schema_to_native_schema` uses
the class.

**Why**: the function gives the text of a schema to torchgen's parser, which splits the text at `, ` and at spaces, and
thus refuses `int[2] a=[1, 2]` and `str mode="one, two"`. The function then returns None.

**Effect**: without the patch, an export of a model that calls such an operator fails with `'NoneType' object has no
attribute 'kind'`.

**Report**, to PyTorch: torchgen should split arguments as PyTorch's own parser of schemas does.
"""

from __future__ import annotations

import contextlib
import re

from executorch.exir.operator import convert
from torchgen.model import FunctionSchema

from export.patches.patch import Patch

PATCH = Patch(
    "spaced_defaults",
    known={
        "executorch.exir.operator.convert:_pybind_schema_to_native_schema": {
            "1.4.1": "01e4383bcbb1",
            "1.5.1": "01e4383bcbb1",
        },
    },
    without="operators whose defaults have spaces or commas cannot be exported",
)

# A default that is a text or a list, as PyTorch prints a schema.
_DEFAULT = re.compile(r"""=("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\[[^\]]*\])""")


class _Schema:
    """What ExecuTorch uses of torchgen's class."""

    @staticmethod
    def parse(text: str) -> FunctionSchema:
        return FunctionSchema.parse(_DEFAULT.sub(_as_one_word, text))


def parsed() -> contextlib.AbstractContextManager[None]:
    """Lets torchgen parse the schemas of all operators during the block."""
    return PATCH.applied(convert, FunctionSchema=_Schema)


def _as_one_word(default: re.Match[str]) -> str:
    """Returns a default with other characters for those at which torchgen splits.

    ExecuTorch compares the defaults of an operator's variants. Other defaults therefore get other texts.
    """
    return "=" + re.sub(r"[^\w\[\]\"'.-]", lambda character: f"_{ord(character[0]):x}_", default[1])
