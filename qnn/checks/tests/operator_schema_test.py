"""Ops against the schemas of operators: every way in which a call would not be delegated, or garbled."""

from __future__ import annotations

from absl.testing import absltest, parameterized

from codegen.model import schema as schemas
from diagnostics.errors import Finding, Location
from diagnostics.golden import case
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
    "out variant": (
        _X + _OUT,
        "my_ops::op.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
        "op-does-not-fit op.xml:1:81",
    ),
    "in place": (_X + _OUT, "my_ops::op_(Tensor(a!) x) -> Tensor(a!)", "op-does-not-fit op.xml:1:81"),
    "keyword only": (
        _X + _OUT + _parameter("n"),
        "my_ops::op(Tensor x, *, int n) -> Tensor",
        "op-does-not-fit op.xml:1:81",
        "op-may-not-fit op.xml:4:40",
    ),
    "default": (
        _X + _OUT + _parameter("n"),
        "my_ops::op(Tensor x, int n=3) -> Tensor",
        "op-does-not-fit op.xml:1:81",
        "op-may-not-fit op.xml:4:40",
    ),
    "too few inputs": (
        _X + _OUT,
        "my_ops::op(Tensor x, Tensor y) -> Tensor",
        "op-does-not-fit op.xml:1:81",
    ),
    "too many inputs": (
        _X + _Y + _OUT,
        "my_ops::op(Tensor x) -> Tensor",
        "op-does-not-fit op.xml:1:81",
    ),
    "other order": (
        _X + _Y + _OUT,
        "my_ops::op(Tensor y, Tensor x) -> Tensor",
        "op-does-not-fit op.xml:3:39",
        "op-does-not-fit op.xml:2:16",
    ),
    "list of tensors": (_X + _OUT, "my_ops::op(Tensor[] x) -> Tensor", "op-does-not-fit op.xml:2:16"),
    "None in between": (
        _tensor("Input", "x", mandatory=False) + _Y + _OUT,
        "my_ops::op(Tensor? x, Tensor y) -> Tensor",
        "op-does-not-fit op.xml:2:16",
    ),
    "None for a mandatory input": (_X + _OUT, "my_ops::op(Tensor? x) -> Tensor", "op-does-not-fit op.xml:2:16"),
    "None for a mandatory parameter": (
        _X + _OUT + _parameter("s", _FLOAT),
        "my_ops::op(Tensor x, float? s) -> Tensor",
        "op-does-not-fit op.xml:4:40",
    ),
    "list": (
        _X + _OUT + _parameter("dims", rank="1D"),
        "my_ops::op(Tensor x, int[] dims) -> Tensor",
        "op-does-not-fit op.xml:4:40",
    ),
    "optional list": (_X + _OUT, "my_ops::op(Tensor x, float[]? dims) -> Tensor", "op-does-not-fit op.xml:1:81"),
    "text": (
        _X + _OUT + _parameter("mode"),
        "my_ops::op(Tensor x, str mode) -> Tensor",
        "op-does-not-fit op.xml:1:81",
    ),
    "dtype": (
        _X + _OUT + _parameter("d"),
        "my_ops::op(Tensor x, ScalarType d) -> Tensor",
        "op-does-not-fit op.xml:1:81",
    ),
    "no parameter": (
        _X + _OUT + _parameter("facto"),
        "my_ops::op(Tensor x, int factor) -> Tensor",
        "op-does-not-fit op.xml:1:81",
        "op-does-not-fit op.xml:4:40",
    ),
    "no argument": (
        _X + _OUT + _parameter("n"),
        "my_ops::op(Tensor x) -> Tensor",
        "op-does-not-fit op.xml:4:40",
    ),
    "int is unsigned": (
        _X + _OUT + _parameter("n", "QNN_DATATYPE_INT_32"),
        "my_ops::op(Tensor x, int n) -> Tensor",
        "op-does-not-fit op.xml:4:40",
        "op-may-not-fit op.xml:4:40",
    ),
    "bool has 32 bits": (
        _X + _OUT + _parameter("b", "QNN_DATATYPE_BOOL_8"),
        "my_ops::op(Tensor x, bool b) -> Tensor",
        "op-does-not-fit op.xml:4:40",
    ),
    "float is no int": (
        _X + _OUT + _parameter("f"),
        "my_ops::op(Tensor x, float f) -> Tensor",
        "op-does-not-fit op.xml:4:40",
    ),
    "rank of a number": (
        _X + _OUT + _parameter("n", rank="1D"),
        "my_ops::op(Tensor x, int n) -> Tensor",
        "op-does-not-fit op.xml:4:40",
        "op-may-not-fit op.xml:4:40",
    ),
    "too few outputs": (
        _X + _OUT,
        "my_ops::op(Tensor x) -> (Tensor, Tensor)",
        "op-does-not-fit op.xml:3:39",
    ),
    "too many outputs": (
        _X + _OUT + _tensor("Output", "o2"),
        "my_ops::op(Tensor x) -> Tensor",
        "op-does-not-fit op.xml:3:39",
    ),
    "returns a list": (_X + _OUT, "my_ops::op(Tensor x) -> Tensor[]", "op-does-not-fit op.xml:1:81"),
    "returns a number": (_X + _OUT, "my_ops::op(Tensor x) -> int", "op-does-not-fit op.xml:1:81"),
    "datatype of no tensor": (
        _tensor("Input", "x", "QNN_DATATYPE_STRING") + _OUT,
        "my_ops::op(Tensor x) -> Tensor",
        "op-does-not-fit op.xml:2:16",
    ),
}
_WARNINGS = {
    "negative int": (
        _X + _OUT + _parameter("n"),
        "my_ops::op(Tensor x, int n) -> Tensor",
        "op-may-not-fit op.xml:4:40",
    ),
    "default of PyTorch's own": (
        _X + _OUT + _parameter("n"),
        "aten::op(Tensor x, int n=3) -> Tensor",
        "op-may-not-fit op.xml:1:81",
        "op-may-not-fit op.xml:4:40",
    ),
    "order of parameters": (
        _X + _OUT + _parameter("a", _FLOAT) + _parameter("b", _FLOAT),
        "my_ops::op(Tensor x, float b, float a) -> Tensor",
        "op-may-not-fit op.xml:4:40",
    ),
}


class OperatorSchemaTest(case.TestCase, parameterized.TestCase):
    def judge(self, tensors: str, schema: str) -> tuple[Finding, ...]:
        package, _ = reader.read([self.write("op.xml", _XML.format(tensors=tensors))])
        parsed = schemas.parse(schema, lambda offset: Location(schema))
        return operator_schema.judge(package, package.op_defs[0], parsed, "HTP")

    @parameterized.named_parameters((name, *row) for name, row in (_FITS | _ERRORS | _WARNINGS).items())
    def test_judge(self, tensors: str, schema: str, *expected: str) -> None:
        self.assert_findings(self.judge(tensors, schema), *expected)


if __name__ == "__main__":
    absltest.main()
