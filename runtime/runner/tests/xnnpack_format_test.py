"""Compares the numbers in xnnpack_format.h with those of the schema in the wheel."""

from __future__ import annotations

import re
from pathlib import Path

import executorch.backends.xnnpack.serialization
from absl.testing import absltest

_HEADER = Path("runtime/runner/xnnpack_format.h").read_text()
_SCHEMA = Path(executorch.backends.xnnpack.serialization.__path__[0], "schema.fbs").read_text()
# The bits of a datatype, at the end of its name.
_BITS = {"invalid": 0, "32": 32, "16": 16, "8": 8, "4": 4}


def _block(kind: str, name: str) -> list[str]:
    """The entries of a table, a union or an enumeration of the schema, without comments."""
    body = re.search(rf"^{kind} {name}\b[^{{]*\{{(.*?)\}}", re.sub(r"//.*", "", _SCHEMA), re.M | re.S)
    assert body, name
    return [entry.strip() for entry in re.split(r"[;,]", re.sub(r"\([^)]*\)", "", body[1])) if entry.strip()]


def _fields(table: str) -> list[tuple[str, str]]:
    """The names and types of a table's fields. A field of a union is two fields."""
    fields = []
    for entry in _block("table", table):
        name, type_ = (part.strip() for part in entry.split(":"))
        if re.search(rf"^union {type_}\b", _SCHEMA, re.M):
            fields.append((f"{name}_type", "ubyte"))
        fields.append((name, type_))
    return fields


class XnnpackFormatTest(absltest.TestCase):
    def test_fields_are_those_of_the_schema(self) -> None:
        enums = re.findall(r"^enum (\w+)Field \{(.*?)\};", _HEADER, re.M | re.S)
        self.assertGreater(len(enums), 6)
        for table, body in enums:
            names = [name.strip() for name in body.split(",") if name.strip()]
            expected = ["k" + table + "".join(map(str.capitalize, name.split("_"))) for name, _ in _fields(table)]
            with self.subTest(table):
                self.assertEqual(names, expected[: len(names)])

    def test_unions_are_those_of_the_schema(self) -> None:
        for union, body in re.findall(r"^enum (\w+)Kind \{(.*?)\};", _HEADER, re.M | re.S):
            names = [name.strip() for name in body.split(",") if name.strip()]
            self.assertEqual(names, [f"k{union}{kind}" for kind in ["NONE", *_block("union", union)]])

    def test_datatypes_are_those_of_the_schema(self) -> None:
        bits = re.search(r"kXnnpackBits\[\] = \{(.*?)\}", _HEADER)
        assert bits
        names = [entry.partition("=")[0].strip() for entry in _block("enum", "XNNDatatype")]
        expected = [next(value for end, value in _BITS.items() if name.endswith(end)) for name in names]
        self.assertEqual([int(one) for one in bits[1].split(",")], expected)

    def test_nodes_are_those_of_the_schema(self) -> None:
        rows = re.findall(r"^    \{\"(\w+)\", (.*?)\},$", _HEADER, re.M)
        nodes = [re.split(r"\s*:\s*", node) for node in _block("union", "XNodeUnion")]
        self.assertEqual([name for name, _ in rows], ["NONE", *(node[0] for node in nodes)])
        for (name, text), node in zip(rows[1:], nodes, strict=True):
            ids, *vectors = re.split(r"(?<=\)), ", text)
            with self.subTest(name):
                fields = _fields(node[-1])
                of_ids = [field for field, (one, _) in enumerate(fields) if re.search(r"(_|^)\w*_id$", one)]
                # A concatenation of few values does not read the ids of the others.
                count = int(name[-1]) if name.startswith("XNNConcatenate") else 0
                if count:
                    inputs = [field for field in of_ids if fields[field][0].startswith("input")][:count]
                    of_ids = sorted([*inputs, *(field for field in of_ids if fields[field][0] == "output_id")])
                self.assertEqual(_bits(ids), of_ids)
                of_vectors = [field for field, (_, type_) in enumerate(fields) if type_ == "[uint]"]
                self.assertEqual(_bits("".join(vectors)), of_vectors)


def _bits(text: str) -> list[int]:
    """The fields of an expression of `Bits(first, count)`."""
    return [
        field
        for first, count in re.findall(r"Bits\((\d+), (\d+)\)", text)
        for field in range(int(first), int(first) + int(count))
    ]


if __name__ == "__main__":
    absltest.main()
