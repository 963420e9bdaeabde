"""The XML of op packages: what is read, and what is said of bad files."""

from __future__ import annotations

import json
import string
from pathlib import Path

from absl.testing import absltest, parameterized
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnostics.errors import Finding, InputError
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

# What is wrong: what to replace in the good file, and the message with its place.
_BAD = {
    "not closed": ("</OpDefList>", "", "67:3: error: the file is not well-formed XML: mismatched tag"),
    "empty": (_GOOD, "", "1:1: error: the file is not well-formed XML: no element found"),
    "bare ampersand": ("Multiplies.", "a & b", "7:32: error: the file is not well-formed XML: not well-formed"),
    "entity": ("Multiplies.", "&lol;", "7:29: error: the file is not well-formed XML: undefined entity"),
    "two roots": ("</OpDefCollection>\n", "</OpDefCollection><a/>", "junk after document element"),
    "encoding": ('"UTF-8"', '"KLINGON"', "1:31: error: the file's encoding cannot be read"),
    "document type": (
        "<OpDefCollection ",
        "<!DOCTYPE x []><OpDefCollection ",
        "2:13: error: the file has a document type",
    ),
    "entity bomb": (
        "<OpDefCollection ",
        '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><OpDefCollection ',
        "2:13: error: the file has a document type, <!DOCTYPE x",
    ),
    "external entity": (
        "<OpDefCollection ",
        '<!DOCTYPE x SYSTEM "file:///etc/passwd"><OpDefCollection ',
        "2:40: error: the file has a document type",
    ),
    "deep": ("Multiplies.", "<a>" * 40 + "</a>" * 40, "the elements are nested more than 32 deep"),
    "another root": ("OpDefCollection", "Other", "2:1: error: the root of the file is <Other>"),
    "no package name": (
        'PackageName="ExampleOpPackage" ',
        "",
        "2:1: error: <OpDefCollection> has no attribute PackageName",
    ),
    "package name": ('"ExampleOpPackage"', '"1 package"', "2:1: error: '1 package' is no name of a package"),
    "attribute": ("Version=", "Versoin=", "<OpDefCollection> has no attribute Versoin; did you mean Version?"),
    "no ops": ("OpDef>", "Note>", "<OpDefList> has no <Note>"),
    "unknown element": ("<Mandatory>true</Mandatory>", "<Mandatry>true</Mandatry>", "did you mean Mandatory?"),
    "missing element": ("<Mandatory>true</Mandatory>", "", "9:7: error: <Input> has no <Mandatory>"),
    "no rank": ("<Rank>4D</Rank>", "", "<Shape> has no <Rank>"),
    "no datatype": (
        "<Datatype>QNN_DATATYPE_UINT_32</Datatype>\n        <Shape><Rank>",
        "<Shape><Rank>",
        "<Parameter> has no <Datatype>",
    ),
    "twice": ("<Name>mode</Name>", "<Name>mode</Name><Name>m</Name>", "37:26: error: <Parameter> has <Name> 2 times"),
    "order in a tensor": (
        "<Name>mode</Name>\n        <Mandatory>false</Mandatory>",
        "<Mandatory>false</Mandatory>\n        <Name>mode</Name>",
        "38:9: error: <Name> stands behind <Mandatory>",
    ),
    "order in an op": (
        "<UseDefaultTranslation>true</UseDefaultTranslation>\n      <SupportedBackend>HTP</SupportedBackend>",
        "<SupportedBackend>HTP</SupportedBackend>\n      <UseDefaultTranslation>true</UseDefaultTranslation>",
        "52:7: error: <UseDefaultTranslation> stands behind <SupportedBackend>",
    ),
    "order of roles": (
        "<Parameter>\n        <Name>mode<",
        "<Parameter><Name>early</Name><Mandatory>true</Mandatory><Datatype>QNN_DATATYPE_INT_8</Datatype>"
        f"<Shape><Rank>1D</Rank></Shape></Parameter>\n<Output>{_TENSOR.format(name='z')}</Output>\n"
        "<Parameter>\n        <Name>mode<",
        "37:1: error: <Output> stands behind <Parameter>",
    ),
    "order in a shape": (
        "<Layout>UNDEFINED</Layout><Text>one a side</Text>",
        "<Text>one a side</Text><Layout>UNDEFINED</Layout>",
        "62:39: error: <Layout> stands behind <Text>",
    ),
    "no boolean": ("<Mandatory>true", "<Mandatory>yes", "<Mandatory> is 'yes', neither true nor false"),
    "op name": ("<Name>Scale<", "<Name>Scale-it<", "6:7: error: 'Scale-it' is no name of an op"),
    "tensor name": ("<Name>x<", '<Name>x"); evil("<', "is no name of a tensor"),
    "same tensor": ("<Name>y<", "<Name>x<", "the tensor 'x' is defined in"),
    "text": ("<!-- one op -->", "one op", "3:3: error: <OpDefList> has the text 'one op' between its elements"),
    "element in text": ("Multiplies.", "<b>Multiplies.</b>", "<Content> holds text, and has <b> in it"),
    "default": ("<Default>1<", "<Default>-1<", "the default '-1' is none of the 2 values of <Enumeration>"),
    "default tensor": ("[1, 2]", "[1, 2", "the default '[1, 2' cannot be read"),
    "default text": ("[1, 2]", '["a"]', "is no number"),
    "default's type": (
        "<Default>1</Default>\n        <Enumeration><Enum>UP</Enum><Enum>DOWN</Enum></Enumeration>",
        "<Default>1.5</Default>",
        "fits none of the datatypes QNN_DATATYPE_UINT_32",
    ),
    "same value": (">DOWN<", ">UP<", "the value 'UP' is defined in"),
    "datatype of no backend": (
        "<Datatype>QNN_DATATYPE_UINT_32</Datatype>\n        <Shape><Layout>",
        "<Shape><Layout>",
        "nothing says which datatypes HTP has",
    ),
    "unknown op": ("<OpName>Scale<", "<OpName>Scael<", "the package has no op 'Scael'; did you mean Scale?"),
    "unknown tensor": (
        "<Name>pads</Name>\n        <Datatype>QNN",
        "<Name>pad</Name>\n        <Datatype>QNN",
        "Scale has no parameter 'pad'; did you mean pads?",
    ),
    "no reference": (' Url="https://example.com/book"', "", "<Reference> has no attribute Url"),
    "constraint": (' type="Number"', "", "<Constraint> has no attribute type"),
}
# What may be right with another SDK.
_ODD = {
    "datatype": (
        "QNN_DATATYPE_UFIXED_POINT_8",
        "QNN_DATATYPE_UFIXEDPOINT_8",
        "is no datatype that is known here; did you",
    ),
    "layout": (">NHWC<", ">NCHW<", "'NCHW' is no layout that is known here"),
    "rank": (">4D<", ">6D<", "'6D' is no rank that is known here"),
    "layout of a backend": (
        "<Layout>UNDEFINED<",
        "<Layout>UNDEFIND<",
        "'UNDEFIND' is no layout that is known here; did you mean UNDEFINED?",
    ),
    "constraint": ('type="Number"', 'type="Count"', "'Count' is no type of a constraint"),
    "useless default": (
        "<Mandatory>false</Mandatory>",
        "<Mandatory>true</Mandatory>",
        "is mandatory and has a default",
    ),
}


class ReaderTest(parameterized.TestCase):
    def write(self, *texts: str) -> list[str]:
        folder = Path(self.create_tempdir().full_path)
        paths = [folder / f"{number}.xml" for number in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text)
        return [str(path) for path in paths]

    def read(self, *texts: str) -> tuple[model.Package, tuple[Finding, ...]]:
        return reader.read(self.write(*texts))

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
        for changed, message in (
            (
                _SECOND.replace(' Version="1.0"', ' Version="1.1"'),
                "version is '1.1', and '1.0'",
            ),
            (_SECOND.replace("ExampleOp", "Other"), "name is 'OtherPackage', and 'ExampleOpPackage'"),
            (_SECOND.replace("Shift", "Scale"), "the op 'Scale' is defined in"),
            (_SECOND.replace('Backend="CPU"', 'Backend="HTP"'), "the backend's list 'HTP' is defined in"),
        ):
            with self.subTest(message), self.assertRaisesRegex(InputError, message):
                self.read(_GOOD, changed)

    @parameterized.named_parameters((name, *case) for name, case in _BAD.items())
    def test_bad(self, old: str, new: str, message: str) -> None:
        self.assertIn(old, _GOOD)
        with self.assertRaises(InputError) as caught:
            self.read(_GOOD.replace(old, new))
        text = str(caught.exception)
        self.assertIn(message, text)
        self.assertIn(caught.exception.findings[0].id, ("malformed-xml", "bad-op-def"))

    @parameterized.named_parameters((name, *case) for name, case in _ODD.items())
    def test_odd(self, old: str, new: str, message: str) -> None:
        self.assertIn(old, _GOOD)
        _, odd = self.read(_GOOD.replace(old, new))
        self.assertIn(message, "\n".join(str(finding) for finding in odd))
        self.assertIn(": warning: ", str(odd[0]))
        self.assertTrue(all(str(finding).endswith("#odd-op-def") for finding in odd))

    def test_no_backend(self) -> None:
        text = _GOOD.replace("<SupportedBackend>HTP</SupportedBackend>", "").replace("<OpName>Scale</OpName>", "")
        with self.assertRaisesRegex(InputError, "5:5: error: no backend supports Scale"):
            self.read(text)

    def test_no_file(self) -> None:
        with self.assertRaisesRegex(InputError, "nowhere.xml: error: cannot read the file: No such file"):
            reader.read(["nowhere.xml"])

    def test_large_file(self) -> None:
        with self.assertRaisesRegex(InputError, "error: the file has more than 4 MiB"):
            self.read("<!--" + "a" * (4 << 20) + "-->" + _GOOD)

    def test_all_mistakes_at_once(self) -> None:
        text = _GOOD.replace("<Name>Scale<", "<Name>-<").replace("<Mandatory>true", "<Mandatory>yes")
        with self.assertRaises(InputError) as caught:
            self.read(text)
        self.assertGreaterEqual(len(caught.exception.findings), 3)


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
