"""The XML of op packages: what is read, and what is said of bad files."""

from __future__ import annotations

import functools
import json
import string
from pathlib import Path

from absl.testing import absltest, parameterized
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnostics.errors import Finding, InputError
from diagnostics.golden import case
from qnn.opdef import model, reader

# In the form of ExecuTorch's guide, with all that the schema has.
_TENSOR = """
      <Name>{name}</Name>
      <Description><Content>what it is</Content></Description>
      <Constraint id="{name}_c1" type="Number">at most 4</Constraint>
      <Mandatory>true</Mandatory>
      <Datatype>QNN_DATATYPE_FLOAT_32</Datatype>
      <Datatype>QNN_DATATYPE_UFIXED_POINT_8</Datatype>
      <Shape>
        <Rank>4D</Rank>
        <Layout>NHWC</Layout>
        <Text>a tensor of 4 dimensions</Text>
      </Shape>"""
_GOOD = f"""<?xml version="1.0" encoding="UTF-8"?>
<OpDefCollection PackageName="ExampleOpPackage" Domain="aisw" Version="1.0">
  <OpDefList>
    <!-- one op -->
    <OpDef>
      <Name>Scale</Name>
      <Description><Content>Multiplies.</Content><Code>y = x * factor</Code></Description>
      <Reference Source="a book" Url="https://example.com/book"/>
      <Input>{_TENSOR.format(name="x")}
        <Repeated>false</Repeated>
        <IsStaticTensor>0</IsStaticTensor>
      </Input>
      <Output>{_TENSOR.format(name="y")}</Output>
      <Parameter>
        <Name>mode</Name>
        <Mandatory>false</Mandatory>
        <Datatype>QNN_DATATYPE_UINT_32</Datatype>
        <Shape><Rank>SCALAR</Rank></Shape>
        <Default>1</Default>
        <Enumeration><Enum>UP</Enum><Enum>DOWN</Enum></Enumeration>
      </Parameter>
      <Parameter>
        <Name>pads</Name>
        <Mandatory>false</Mandatory>
        <Datatype>BACKEND_SPECIFIC</Datatype>
        <Shape><Rank>1</Rank></Shape>
        <Default>[1, 2]</Default>
      </Parameter>
      <UseDefaultTranslation>true</UseDefaultTranslation>
      <SupportedBackend>HTP</SupportedBackend>
    </OpDef>
  </OpDefList>
  <SupplementalOpDefList Backend="HTP">
    <SupportedOps><OpName>Scale</OpName></SupportedOps>
    <SupplementalOpDef>
      <Name>Scale</Name>
      <Parameter>
        <Name>pads</Name>
        <Datatype>QNN_DATATYPE_UINT_32</Datatype>
        <Shape><Layout>UNDEFINED</Layout><Text>one a side</Text></Shape>
        <OnlyDefaultSupported>true</OnlyDefaultSupported>
      </Parameter>
    </SupplementalOpDef>
  </SupplementalOpDefList>
</OpDefCollection>
"""
_SECOND = (
    _GOOD.replace("<Name>Scale<", "<Name>Shift<")
    .replace("<OpName>Scale<", "<OpName>Shift<")
    .replace('Backend="HTP"', 'Backend="CPU"')
    .replace(">HTP<", ">CPU<")
)

# What is wrong: what to replace in the good file, and the findings.
_BAD = {
    "not closed": ("</OpDefList>", "", "malformed-xml 0.xml:67:3"),
    "empty": (_GOOD, "", "malformed-xml 0.xml:1:1"),
    "bare ampersand": ("Multiplies.", "a & b", "malformed-xml 0.xml:7:32"),
    "entity": ("Multiplies.", "&lol;", "malformed-xml 0.xml:7:29"),
    "two roots": ("</OpDefCollection>\n", "</OpDefCollection><a/>", "malformed-xml 0.xml:67:19"),
    "encoding": ('"UTF-8"', '"KLINGON"', "malformed-xml 0.xml:1:31"),
    "document type": (
        "<OpDefCollection ",
        "<!DOCTYPE x []><OpDefCollection ",
        "malformed-xml 0.xml:2:13",
    ),
    "entity bomb": (
        "<OpDefCollection ",
        '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><OpDefCollection ',
        "malformed-xml 0.xml:2:13",
    ),
    "external entity": (
        "<OpDefCollection ",
        '<!DOCTYPE x SYSTEM "file:///etc/passwd"><OpDefCollection ',
        "malformed-xml 0.xml:2:40",
    ),
    "deep": ("Multiplies.", "<a>" * 40 + "</a>" * 40, "malformed-xml 0.xml:7:110"),
    "another root": ("OpDefCollection", "Other", "bad-op-def 0.xml:2:1"),
    "no package name": (
        'PackageName="ExampleOpPackage" ',
        "",
        "bad-op-def 0.xml:2:1",
    ),
    "package name": ('"ExampleOpPackage"', '"1 package"', "bad-op-def 0.xml:2:1"),
    "attribute": ("Version=", "Versoin=", "bad-op-def 0.xml:2:1", "bad-op-def 0.xml:2:1"),
    "no ops": (
        "OpDef>",
        "Note>",
        "bad-op-def 0.xml:5:5",
        "bad-op-def 0.xml:3:3",
        "bad-op-def 0.xml:57:5",
        "bad-op-def 0.xml:55:3",
    ),
    "unknown element": (
        "<Mandatory>true</Mandatory>",
        "<Mandatry>true</Mandatry>",
        "bad-op-def 0.xml:13:7",
        "bad-op-def 0.xml:9:7",
        "bad-op-def 0.xml:28:7",
        "bad-op-def 0.xml:24:7",
    ),
    "missing element": ("<Mandatory>true</Mandatory>", "", "bad-op-def 0.xml:9:7", "bad-op-def 0.xml:24:7"),
    "no rank": ("<Rank>4D</Rank>", "", "bad-op-def 0.xml:16:7", "bad-op-def 0.xml:31:7"),
    "no datatype": (
        "<Datatype>QNN_DATATYPE_UINT_32</Datatype>\n        <Shape><Rank>",
        "<Shape><Rank>",
        "bad-op-def 0.xml:36:7",
    ),
    "twice": ("<Name>mode</Name>", "<Name>mode</Name><Name>m</Name>", "bad-op-def 0.xml:37:26"),
    "order in a tensor": (
        "<Name>mode</Name>\n        <Mandatory>false</Mandatory>",
        "<Mandatory>false</Mandatory>\n        <Name>mode</Name>",
        "bad-op-def 0.xml:38:9",
    ),
    "order in an op": (
        "<UseDefaultTranslation>true</UseDefaultTranslation>\n      <SupportedBackend>HTP</SupportedBackend>",
        "<SupportedBackend>HTP</SupportedBackend>\n      <UseDefaultTranslation>true</UseDefaultTranslation>",
        "bad-op-def 0.xml:52:7",
    ),
    "order of roles": (
        "<Parameter>\n        <Name>mode<",
        "<Parameter><Name>early</Name><Mandatory>true</Mandatory><Datatype>QNN_DATATYPE_INT_8</Datatype>"
        f"<Shape><Rank>1D</Rank></Shape></Parameter>\n<Output>{_TENSOR.format(name='z')}</Output>\n"
        "<Parameter>\n        <Name>mode<",
        "bad-op-def 0.xml:37:1",
    ),
    "order in a shape": (
        "<Layout>UNDEFINED</Layout><Text>one a side</Text>",
        "<Text>one a side</Text><Layout>UNDEFINED</Layout>",
        "bad-op-def 0.xml:62:39",
    ),
    "no boolean": ("<Mandatory>true", "<Mandatory>yes", "bad-op-def 0.xml:13:7", "bad-op-def 0.xml:28:7"),
    "op name": (
        "<Name>Scale<",
        "<Name>Scale-it<",
        "bad-op-def 0.xml:6:7",
        "bad-op-def 0.xml:58:7",
        "bad-op-def 0.xml:55:3",
    ),
    "tensor name": ("<Name>x<", '<Name>x"); evil("<', "bad-op-def 0.xml:10:7"),
    "same tensor": ("<Name>y<", "<Name>x<", "bad-op-def 0.xml:24:7"),
    "text": ("<!-- one op -->", "one op", "bad-op-def 0.xml:3:3"),
    "element in text": ("Multiplies.", "<b>Multiplies.</b>", "bad-op-def 0.xml:7:29"),
    "default": ("<Default>1<", "<Default>-1<", "bad-op-def 0.xml:41:9", "bad-op-def 0.xml:41:9"),
    "default tensor": ("[1, 2]", "[1, 2", "bad-op-def 0.xml:49:9"),
    "default text": ("[1, 2]", '["a"]', "bad-op-def 0.xml:49:9"),
    "default's type": (
        "<Default>1</Default>\n        <Enumeration><Enum>UP</Enum><Enum>DOWN</Enum></Enumeration>",
        "<Default>1.5</Default>",
        "bad-op-def 0.xml:41:9",
    ),
    "same value": (">DOWN<", ">UP<", "bad-op-def 0.xml:42:37"),
    "datatype of no backend": (
        "<Datatype>QNN_DATATYPE_UINT_32</Datatype>\n        <Shape><Layout>",
        "<Shape><Layout>",
        "bad-op-def 0.xml:44:7",
    ),
    "unknown op": ("<OpName>Scale<", "<OpName>Scael<", "bad-op-def 0.xml:55:3"),
    "unknown tensor": (
        "<Name>pads</Name>\n        <Datatype>QNN",
        "<Name>pad</Name>\n        <Datatype>QNN",
        "bad-op-def 0.xml:59:7",
        "bad-op-def 0.xml:44:7",
    ),
    "no reference": (' Url="https://example.com/book"', "", "bad-op-def 0.xml:8:7"),
    "constraint": (' type="Number"', "", "bad-op-def 0.xml:12:7", "bad-op-def 0.xml:27:7"),
}
# What may be right with another SDK.
_ODD = {
    "datatype": (
        "QNN_DATATYPE_UFIXED_POINT_8",
        "QNN_DATATYPE_UFIXEDPOINT_8",
        "odd-op-def 0.xml:15:7",
        "odd-op-def 0.xml:30:7",
    ),
    "layout": (">NHWC<", ">NCHW<", "odd-op-def 0.xml:18:9", "odd-op-def 0.xml:33:9"),
    "rank": (">4D<", ">6D<", "odd-op-def 0.xml:17:9", "odd-op-def 0.xml:32:9"),
    "layout of a backend": (
        "<Layout>UNDEFINED<",
        "<Layout>UNDEFIND<",
        "odd-op-def 0.xml:62:16",
    ),
    "constraint": ('type="Number"', 'type="Count"', "odd-op-def 0.xml:12:7", "odd-op-def 0.xml:27:7"),
    "useless default": (
        "<Mandatory>false</Mandatory>",
        "<Mandatory>true</Mandatory>",
        "odd-op-def 0.xml:41:9",
        "odd-op-def 0.xml:49:9",
    ),
}


class ReaderTest(case.TestCase, parameterized.TestCase):
    def read(self, *texts: str) -> tuple[model.Package, tuple[Finding, ...]]:
        return reader.read([self.write(f"{number}.xml", text) for number, text in enumerate(texts)])

    def test_everything(self) -> None:
        package, odd = self.read(_GOOD)
        self.assertEqual(odd, ())
        self.assertEqual((package.name, package.domain, package.version), ("ExampleOpPackage", "aisw", "1.0"))
        op_def = package.op_def("Scale")
        assert op_def
        self.assertEqual(op_def.description, "Multiplies. y = x * factor")
        # The schema leaves the order of these open.
        content, code = "<Content>Multiplies.</Content>", "<Code>y = x * factor</Code>"
        turned, _ = self.read(_GOOD.replace(content + code, code + content))
        self.assertEqual(turned.op_defs[0].description, "y = x * factor Multiplies.")
        self.assertEqual(op_def.references, (model.Reference("a book", "https://example.com/book"),))
        self.assertEqual([tensor.name for tensor in op_def.inputs + op_def.outputs], ["x", "y"])
        x, (mode, pads) = op_def.inputs[0], op_def.parameters
        self.assertEqual(x.shape, model.Shape("4D", "NHWC", "a tensor of 4 dimensions"))
        self.assertEqual(x.constraints, (model.Constraint("x_c1", "Number", "at most 4"),))
        self.assertEqual(x.datatypes, ("QNN_DATATYPE_FLOAT_32", "QNN_DATATYPE_UFIXED_POINT_8"))
        self.assertEqual((x.at.line, x.at.column), (9, 7))
        self.assertEqual((x.mandatory, x.repeated, x.is_static), (True, False, False))
        self.assertEqual((mode.default, mode.enumeration, mode.shape.rank), (1, ("UP", "DOWN"), "SCALAR"))
        self.assertEqual((pads.default, pads.shape.rank, pads.mandatory), ((1, 2), "1D", False))
        self.assertTrue(op_def.replaces_native)
        self.assertEqual(package.datatypes(op_def, model.Role.PARAMETER, pads, "HTP"), ("QNN_DATATYPE_UINT_32",))
        self.assertEqual(package.datatypes(op_def, model.Role.PARAMETER, pads, "CPU"), (model.BACKEND_SPECIFIC,))
        supplemental = package.supplements[0].op_defs[0].tensors[0]
        self.assertEqual((supplemental.layout, supplemental.shape_text), ("UNDEFINED", "one a side"))
        self.assertTrue(supplemental.only_default)

    def test_json_has_no_places(self) -> None:
        here, there = (json.dumps(model.to_json(self.read(_GOOD)[0])) for _ in range(2))
        self.assertEqual(here, there)
        self.assertNotIn(".xml", here)
        self.assertEqual(json.loads(here)["op_defs"][0]["parameters"][1]["default"], [1, 2])

    def test_several_files(self) -> None:
        package, _ = self.read(_GOOD, _SECOND)
        self.assertEqual([op_def.name for op_def in package.op_defs], ["Scale", "Shift"])
        self.assertEqual([package.backends(op_def) for op_def in package.op_defs], [("HTP",), ("CPU",)])

    def test_several_files_that_disagree(self) -> None:
        for changed, *expected in (
            (_SECOND.replace(' Version="1.0"', ' Version="1.1"'), "bad-op-def 1.xml:2:1"),
            (_SECOND.replace("ExampleOp", "Other"), "bad-op-def 1.xml:2:1"),
            (_SECOND.replace("Shift", "Scale"), "bad-op-def 1.xml:5:5"),
            (_SECOND.replace('Backend="CPU"', 'Backend="HTP"'), "bad-op-def 1.xml:55:3", "bad-op-def 1.xml:44:7"),
        ):
            self.assert_refused(functools.partial(self.read, _GOOD, changed), *expected)

    @parameterized.named_parameters((name, *case) for name, case in _BAD.items())
    def test_bad(self, old: str, new: str, *expected: str) -> None:
        self.assertIn(old, _GOOD)
        self.assert_refused(lambda: self.read(_GOOD.replace(old, new)), *expected)

    @parameterized.named_parameters((name, *case) for name, case in _ODD.items())
    def test_odd(self, old: str, new: str, *expected: str) -> None:
        self.assertIn(old, _GOOD)
        _, odd = self.read(_GOOD.replace(old, new))
        self.assert_findings(odd, *expected)

    def test_no_backend(self) -> None:
        text = _GOOD.replace("<SupportedBackend>HTP</SupportedBackend>", "").replace("<OpName>Scale</OpName>", "")
        self.assert_refused(lambda: self.read(text), "bad-op-def 0.xml:5:5")

    def test_no_file(self) -> None:
        self.assert_refused(lambda: reader.read(["nowhere.xml"]), "malformed-xml nowhere.xml")

    def test_large_file(self) -> None:
        self.assert_refused(lambda: self.read("<!--" + "a" * (4 << 20) + "-->" + _GOOD), "malformed-xml 0.xml")

    def test_all_mistakes_at_once(self) -> None:
        text = _GOOD.replace("<Name>Scale<", "<Name>-<").replace("<Mandatory>true", "<Mandatory>yes")
        self.assert_refused(
            lambda: self.read(text),
            "bad-op-def 0.xml:13:7",
            "bad-op-def 0.xml:28:7",
            "bad-op-def 0.xml:6:7",
            "bad-op-def 0.xml:58:7",
            "bad-op-def 0.xml:55:3",
        )


# What changes a file: pieces of it, and what often breaks readers.
_PIECES = st.sampled_from(
    [
        *_GOOD.split("\n"),
        *"<>&\"'/!?[]-",
        "\0",
        "\ud800",
        "]]>",
        "<![CDATA[",
        "&#0;",
        "&#x41;",
        "9" * 5000,
        "[" * 5000,
        "NaN",
        "1e999",
    ]
) | st.text(string.printable, max_size=12)


class FuzzTest(absltest.TestCase):
    @settings(max_examples=800, deadline=None, database=None)
    @given(st.lists(st.tuples(st.integers(0, len(_GOOD)), st.integers(0, 80), _PIECES), min_size=1, max_size=6))
    def test_changed_files(self, changes: list[tuple[int, int, str]]) -> None:
        """A file that is changed anywhere is read, or refused with one of our errors."""
        text = _GOOD
        for start, length, piece in changes:
            text = text[:start] + piece + text[start + length :]
        path = Path(absltest.get_default_test_tmpdir()) / "changed.xml"
        path.write_bytes(text.encode(errors="surrogatepass"))
        try:
            package, _ = reader.read([str(path)])
        except InputError as error:
            self.assertNotEmpty(error.findings)
        else:
            self.assertTrue(package.name.isidentifier())
            json.dumps(model.to_json(package), allow_nan=False)


if __name__ == "__main__":
    absltest.main()
