"""Ops against the schemas of operators: every way in which a call would not be delegated, or garbled."""

from __future__ import annotations

from absl.testing import absltest, parameterized

from codegen.model import schema as schemas
from diagnostics.errors import Finding, Location
from qnn.checks import operator_schema
from qnn.opdef import reader

_XML = """<OpDefCollection PackageName="MyPackage" Domain="aisw" Version="1.0"><OpDefList><OpDef>
<Name>Op</Name>{tensors}<SupportedBackend>HTP</SupportedBackend></OpDef></OpDefList></OpDefCollection>"""

_FLOAT, _UINT = "QNN_DATATYPE_FLOAT_32", "QNN_DATATYPE_UINT_32"


def _tensor(
    kind: str, name: str, datatype: str = _FLOAT, rank: str = "4D", *, mandatory: bool = True, more: str = ""
) -> str:
    return f"""<{kind}><Name>{name}</Name><Mandatory>{str(mandatory).lower()}</Mandatory><Datatype>{datatype}</Datatype>
<Shape><Rank>{rank}</Rank></Shape>{more}</{kind}>"""


def _parameter(name: str, datatype: str = _UINT, rank: str = "SCALAR", *, mandatory: bool = True) -> str:
    return _tensor("Parameter", name, datatype, rank, mandatory=mandatory)


_X, _Y, _OUT = _tensor("Input", "x"), _tensor("Input", "y"), _tensor("Output", "out")
_OPTIONAL_Y = _tensor("Input", "y", mandatory=False)

_FITS = {
    "one tensor": (_X + _OUT, "my_ops::op(Tensor x) -> Tensor"),
    "other names": (_X + _OUT, "my_ops::op(Tensor input) -> Tensor"),
    "two tensors": (_X + _Y + _OUT, "my_ops::op(Tensor x, Tensor y) -> Tensor"),
    "two outputs": (_X + _OUT + _tensor("Output", "out2"), "my_ops::op(Tensor x) -> (Tensor, Tensor)"),
    "numbers": (
        _X + _OUT + _parameter("scale", _FLOAT) + _parameter("up"),
        "my_ops::op(Tensor x, float scale, bool up) -> Tensor",
    ),
    "parameter of the kernel's own": (
        _X + _OUT + _parameter("mode", mandatory=False),
        "my_ops::op(Tensor x) -> Tensor",
    ),
    "last is None": (_X + _OPTIONAL_Y + _OUT, "my_ops::op(Tensor x, Tensor? y) -> Tensor"),
    "number is None": (
        _X + _OUT + _parameter("s", _FLOAT, mandatory=False),
        "my_ops::op(Tensor x, float? s) -> Tensor",
    ),
    "repeated": (
        _tensor("Input", "x", more="<Repeated>true</Repeated>") + _OUT,
        "my_ops::op(Tensor a, Tensor b, Tensor c) -> Tensor",
    ),
    "built in": (_X + _OUT, "aten::relu(Tensor self) -> Tensor"),
}
_ERRORS = {
    "out variant": (_X + _OUT, "my_ops::op.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", "is an out variant"),
    "in place": (_X + _OUT, "my_ops::op_(Tensor(a!) x) -> Tensor(a!)", "writes to its argument 'x'"),
    "keyword only": (_X + _OUT + _parameter("n"), "my_ops::op(Tensor x, *, int n) -> Tensor", "is keyword-only"),
    "default": (
        _X + _OUT + _parameter("n"),
        "my_ops::op(Tensor x, int n=3) -> Tensor",
        "'n' of my_ops::op has a default, 3",
    ),
    "too few inputs": (
        _X + _OUT,
        "my_ops::op(Tensor x, Tensor y) -> Tensor",
        "Op has 1 inputs, and my_ops::op has 2 tensors",
    ),
    "too many inputs": (
        _X + _Y + _OUT,
        "my_ops::op(Tensor x) -> Tensor",
        "Op has 2 inputs, and my_ops::op has 1 tensors",
    ),
    "other order": (
        _X + _Y + _OUT,
        "my_ops::op(Tensor y, Tensor x) -> Tensor",
        "'y' is input 1 of Op, and tensor 0 of",
    ),
    "list of tensors": (_X + _OUT, "my_ops::op(Tensor[] x) -> Tensor", "'x' of my_ops::op is a list of tensors"),
    "None in between": (
        _tensor("Input", "x", mandatory=False) + _Y + _OUT,
        "my_ops::op(Tensor? x, Tensor y) -> Tensor",
        "the tensor 'x' of my_ops::op may be None, and other tensors follow",
    ),
    "None for a mandatory input": (_X + _OUT, "my_ops::op(Tensor? x) -> Tensor", "and the input 'x' is mandatory"),
    "None for a mandatory parameter": (
        _X + _OUT + _parameter("s", _FLOAT),
        "my_ops::op(Tensor x, float? s) -> Tensor",
        "'s' of my_ops::op may be None, and the parameter is mandatory",
    ),
    "list": (
        _X + _OUT + _parameter("dims", rank="1D"),
        "my_ops::op(Tensor x, int[] dims) -> Tensor",
        "'dims' of my_ops::op is a list",
    ),
    "optional list": (_X + _OUT, "my_ops::op(Tensor x, float[]? dims) -> Tensor", "'dims' of my_ops::op is a list"),
    "text": (
        _X + _OUT + _parameter("mode"),
        "my_ops::op(Tensor x, str mode) -> Tensor",
        "is of type str, which cannot",
    ),
    "dtype": (
        _X + _OUT + _parameter("d"),
        "my_ops::op(Tensor x, ScalarType d) -> Tensor",
        "which cannot be a parameter",
    ),
    "no parameter": (
        _X + _OUT + _parameter("facto"),
        "my_ops::op(Tensor x, int factor) -> Tensor",
        "Op has no parameter 'factor', which my_ops::op has; did you mean facto?",
    ),
    "no argument": (
        _X + _OUT + _parameter("n"),
        "my_ops::op(Tensor x) -> Tensor",
        "my_ops::op has no argument 'n', and the",
    ),
    "int is unsigned": (
        _X + _OUT + _parameter("n", "QNN_DATATYPE_INT_32"),
        "my_ops::op(Tensor x, int n) -> Tensor",
        "the parameter 'n' has the datatype QNN_DATATYPE_INT_32, and ExecuTorch gives QNN_DATATYPE_UINT_32",
    ),
    "bool has 32 bits": (
        _X + _OUT + _parameter("b", "QNN_DATATYPE_BOOL_8"),
        "my_ops::op(Tensor x, bool b) -> Tensor",
        "ExecuTorch gives QNN_DATATYPE_UINT_32 for the argument of type bool",
    ),
    "float is no int": (
        _X + _OUT + _parameter("f"),
        "my_ops::op(Tensor x, float f) -> Tensor",
        "ExecuTorch gives QNN_DATATYPE_FLOAT_32",
    ),
    "rank of a number": (
        _X + _OUT + _parameter("n", rank="1D"),
        "my_ops::op(Tensor x, int n) -> Tensor",
        "has the rank 1D, and",
    ),
    "too few outputs": (
        _X + _OUT,
        "my_ops::op(Tensor x) -> (Tensor, Tensor)",
        "Op has 1 outputs, and my_ops::op returns 2",
    ),
    "too many outputs": (
        _X + _OUT + _tensor("Output", "o2"),
        "my_ops::op(Tensor x) -> Tensor",
        "Op has 2 outputs, and",
    ),
    "returns a list": (_X + _OUT, "my_ops::op(Tensor x) -> Tensor[]", "returns Tensor[], and an op gives tensors"),
    "returns a number": (_X + _OUT, "my_ops::op(Tensor x) -> int", "returns int, and an op gives tensors"),
    "datatype of no tensor": (
        _tensor("Input", "x", "QNN_DATATYPE_STRING") + _OUT,
        "my_ops::op(Tensor x) -> Tensor",
        "which ExecuTorch gives no tensor",
    ),
}
_WARNINGS = {
    "negative int": (
        _X + _OUT + _parameter("n"),
        "my_ops::op(Tensor x, int n) -> Tensor",
        "'n' of my_ops::op must not be a neg",
    ),
    "default of PyTorch's own": (
        _X + _OUT + _parameter("n"),
        "aten::op(Tensor x, int n=3) -> Tensor",
        "has a default, 3",
    ),
    "order of parameters": (
        _X + _OUT + _parameter("a", _FLOAT) + _parameter("b", _FLOAT),
        "my_ops::op(Tensor x, float b, float a) -> Tensor",
        "in the order a, b, and those of my_ops::op in the order b, a",
    ),
}


class OperatorSchemaTest(parameterized.TestCase):
    def judge(self, tensors: str, schema: str) -> tuple[Finding, ...]:
        path = self.create_tempfile(content=_XML.format(tensors=tensors)).full_path
        package, _ = reader.read([path])
        parsed = schemas.parse(schema, lambda offset: Location(schema))
        return operator_schema.judge(package, package.op_defs[0], parsed, "HTP")

    @parameterized.named_parameters((name, *case) for name, case in _FITS.items())
    def test_fits(self, tensors: str, schema: str) -> None:
        self.assertEqual([str(finding) for finding in self.judge(tensors, schema)], [])

    @parameterized.named_parameters((name, *case) for name, case in _ERRORS.items())
    def test_error(self, tensors: str, schema: str, message: str) -> None:
        errors = [finding for finding in self.judge(tensors, schema) if finding.severity == "error"]
        self.assertNotEmpty(errors)
        self.assertIn(message, str(errors[0]))
        self.assertIn(f"schema: {schema}", str(errors[0]))
        self.assertEqual(errors[0].id, "op-does-not-fit")
        self.assertRegex(str(errors[0].where), r":\d+:\d+$")

    @parameterized.named_parameters((name, *case) for name, case in _WARNINGS.items())
    def test_warning(self, tensors: str, schema: str, message: str) -> None:
        (warning, *errors) = sorted(self.judge(tensors, schema), key=lambda finding: message not in str(finding))
        self.assertIn(message, str(warning))
        self.assertEqual((warning.id, warning.severity), ("op-may-not-fit", "warning"))
        self.assertTrue(all(finding.severity == "warning" for finding in errors))


if __name__ == "__main__":
    absltest.main()
