"""Compares an op of a package with the schema of the PyTorch operator that the op computes.

ExecuTorch's Qualcomm backend turns a call of the operator into a node of the op: tensors become inputs in the order of
the schema, and other arguments become parameters by name. If a call does not fit, the backend does not delegate the
call, and only logs the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codegen.model.schema import Argument, BaseType, FunctionSchema, ListType, OptionalType
from diagnostics.errors import Finding, Location
from diagnostics.suggest import did_you_mean, nearest
from qnn.opdef.model import OpDef, Package, Role, Tensor

# The datatypes of tensors that ExecuTorch declares, unquantized and quantized.
TENSOR_DATATYPES = frozenset(
    [
        "QNN_DATATYPE_BOOL_8",
        *(f"QNN_DATATYPE_FLOAT_{bits}" for bits in (16, 32)),
        *(f"QNN_DATATYPE_INT_{bits}" for bits in (8, 16, 32, 64)),
        *(f"QNN_DATATYPE_UINT_{bits}" for bits in (8, 16, 32)),
        *(f"QNN_DATATYPE_SFIXED_POINT_{bits}" for bits in (8, 16, 32)),
        *(f"QNN_DATATYPE_UFIXED_POINT_{bits}" for bits in (8, 16)),
    ]
)
# The datatypes of a parameter, by the type of the argument.
PARAMETER_DATATYPES = {
    "bool": ("QNN_DATATYPE_UINT_32",),
    "float": ("QNN_DATATYPE_FLOAT_32",),
    "int": ("QNN_DATATYPE_UINT_32",),
    "SymInt": ("QNN_DATATYPE_UINT_32",),
    "Scalar": ("QNN_DATATYPE_FLOAT_32", "QNN_DATATYPE_UINT_32"),
}


def judge(package: Package, op_def: OpDef, schema: FunctionSchema, backend: str) -> tuple[Finding, ...]:
    """Returns findings for all differences between an op and its operator.

    Args:
        package: the package.
        op_def: the op of the package.
        schema: the schema of the operator that the op computes.
        backend: the backend of the package.
    """
    return tuple(_Judge(package, op_def, schema, backend).findings())


class _Judge:
    def __init__(self, package: Package, op_def: OpDef, schema: FunctionSchema, backend: str) -> None:
        self._package, self._op_def, self._schema, self._backend = package, op_def, schema, backend

    def findings(self) -> Iterator[Finding]:
        if self._schema.out:
            yield self._out_variant()
            return
        yield from self._form()
        tensors = [argument for argument in self._schema.arguments if _base(argument) == "Tensor"]
        others = [argument for argument in self._schema.arguments if _base(argument) != "Tensor"]
        yield from self._inputs(tensors)
        yield from self._parameters(others)
        yield from self._outputs()
        for role, tensor in self._op_def.tensors:
            if role is not Role.PARAMETER:
                yield from self._tensor_datatypes(role, tensor)

    def _error(self, at: Location, found: str, cause: str, fix: str) -> Finding:
        return Finding(at, found, cause, fix, (f"schema: {self._schema}",), id="op-does-not-fit")

    def _warning(self, at: Location, found: str, cause: str, fix: str) -> Finding:
        return Finding(at, found, cause, fix, (f"schema: {self._schema}",), id="op-may-not-fit", severity="warning")

    def _out_variant(self) -> Finding:
        name = self._schema.name
        return self._error(
            self._op_def.at,
            f"{name} is an out variant, which no exported graph calls before it is delegated",
            "the out variant was named in place of the functional one",
            f"name the functional operator, {name.namespace}::{name.name}",
        )

    def _form(self) -> Iterator[Finding]:
        """Checks the schema itself, without the op."""
        name = self._schema.name
        for argument in self._schema.arguments:
            if argument.is_written:
                yield self._error(
                    self._op_def.at,
                    f"{name} writes to its argument '{argument.name}', and an op of a package only writes outputs",
                    "the operator is one that changes a tensor in place",
                    "give the operator a functional variant, and name the variant in torch_ops",
                )
            if argument in self._schema.keyword_only:
                yield self._error(
                    self._op_def.at,
                    f"the argument '{argument.name}' of {name} is keyword-only, so no call of {name} is delegated",
                    "ExecuTorch's builder expects all arguments as positional arguments",
                    "make the argument positional: no * before it in the schema",
                )
            elif argument.default is not None:
                yield self._default(argument)

    def _default(self, argument: Argument) -> Finding:
        # A package cannot change the schema of PyTorch's own operator, so there is only a warning.
        report = self._warning if self._schema.name.namespace == "aten" else self._error
        return report(
            self._op_def.at,
            f"the argument '{argument.name}' of {self._schema.name} has a default, {argument.default}; a call that "
            "leaves the argument at its default is not delegated",
            "torch.export drops an argument that equals its default, and ExecuTorch's builder expects all arguments",
            "give the argument no default in the schema"
            if report == self._error
            else "pass another value than the default in each call that should be delegated",
        )

    # Inputs

    def _inputs(self, arguments: Sequence[Argument]) -> Iterator[Finding]:
        inputs = self._op_def.inputs
        least = sum(tensor.mandatory for tensor in inputs)
        most = None if any(tensor.repeated for tensor in inputs) else len(inputs)
        if len(arguments) < least or (most is not None and len(arguments) > most):
            count = f"{least} or more" if most is None else f"{least} to {most}" if most != least else str(least)
            yield self._error(
                self._op_def.at,
                f"expected {count} tensors in the arguments of {self._schema.name}, one for each input of "
                f"{self._op_def.name}; found {len(arguments)}",
                "the XML and the operator were not changed together",
                "give the op an <Input> for each tensor of the schema, in the same order",
            )
        names = [tensor.name for tensor in inputs]
        for index, argument in enumerate(arguments):
            tensor = inputs[min(index, len(inputs) - 1)]
            if argument.name in names and names.index(argument.name) != index and not tensor.repeated:
                yield self._error(
                    inputs[names.index(argument.name)].at,
                    f"expected '{argument.name}' as input {index} of {self._op_def.name}, as in the tensors of "
                    f"{self._schema.name}; found input {names.index(argument.name)}",
                    "ExecuTorch assigns tensors to inputs by order, so the kernel would get another tensor",
                    "bring the inputs into the order of the schema",
                )
            if isinstance(argument.type, ListType):
                yield self._error(
                    tensor.at,
                    f"expected a tensor for the argument '{argument.name}' of {self._schema.name}; found a list of "
                    "tensors",
                    "ExecuTorch's builder makes a parameter of a list, and a parameter has no tensors",
                    "write an argument for each tensor",
                )
            elif isinstance(argument.type, OptionalType):
                yield from self._optional(argument, tensor, is_last=index + 1 == len(arguments))

    def _optional(self, argument: Argument, tensor: Tensor, is_last: bool) -> Iterator[Finding]:
        if not is_last:
            yield self._error(
                tensor.at,
                f"the optional tensor '{argument.name}' of {self._schema.name} stands before other tensors",
                "ExecuTorch's builder leaves None out, and the inputs after None move up by one",
                f"make '{argument.name}' the last tensor of the schema, or not optional",
            )
        elif tensor.mandatory:
            yield self._error(
                tensor.at,
                f"expected an input '{tensor.name}' that is not mandatory, since the tensor '{argument.name}' of "
                f"{self._schema.name} may be None",
                "ExecuTorch's builder leaves None out, and the op's validation refuses a node without the input",
                "write <Mandatory>false</Mandatory>, or make the tensor not optional in the schema",
            )

    # Parameters

    def _parameters(self, arguments: Sequence[Argument]) -> Iterator[Finding]:
        parameters = {tensor.name: tensor for tensor in self._op_def.parameters}
        names = [argument.name for argument in arguments]
        for argument in arguments:
            if isinstance(_without_optional(argument), ListType):
                yield self._error(
                    parameters[argument.name].at if argument.name in parameters else self._op_def.at,
                    f"expected one number for the argument '{argument.name}' of {self._schema.name}; found a list",
                    "ExecuTorch's builder declares elements of 32 bits and copies elements of 64 bits, so the kernel "
                    "would read wrong values",
                    "write an argument for each element, or pass a tensor",
                )
                continue
            datatypes = PARAMETER_DATATYPES.get(_base(argument))
            if datatypes is None:
                yield self._error(
                    self._op_def.at,
                    f"expected int, float or bool for the argument '{argument.name}' of {self._schema.name}; found "
                    f"{argument.type}",
                    "ExecuTorch's builder makes parameters of int, float and bool only",
                    "encode the argument as an int",
                )
                continue
            if argument.name not in parameters:
                near = nearest(argument.name, parameters)
                yield self._error(
                    self._op_def.at,
                    f"expected a parameter '{argument.name}' of {self._op_def.name}, as in the arguments of "
                    f"{self._schema.name}; found none{did_you_mean(near)}",
                    "the argument and its <Parameter> have different names, and ExecuTorch compares the names",
                    f"add a <Parameter> with <Name>{argument.name}</Name> and {' or '.join(datatypes)}",
                )
                continue
            yield from self._parameter(argument, parameters[argument.name], datatypes)
        for name, tensor in parameters.items():
            if name not in names and tensor.mandatory:
                yield self._error(
                    tensor.at,
                    f"expected an argument '{name}' of {self._schema.name} for the mandatory parameter; found none"
                    f"{did_you_mean(nearest(name, names))}",
                    "the argument and its <Parameter> have different names, and ExecuTorch compares the names",
                    f"add '{name}' to the schema, or write <Mandatory>false</Mandatory>",
                )
        in_xml = [name for name in parameters if name in names]
        in_schema = [name for name in names if name in parameters]
        if in_xml != in_schema:
            yield self._warning(
                parameters[in_xml[0]].at,
                f"expected the parameters of {self._op_def.name} in the order of {self._schema.name}, "
                f"{', '.join(in_schema)}; found {', '.join(in_xml)}",
                "the XML and the operator were written apart. The kernel gets the parameters in the order of the XML",
                "use the same order in the XML and in the schema",
            )

    def _parameter(self, argument: Argument, tensor: Tensor, expected: Sequence[str]) -> Iterator[Finding]:
        datatypes = self._package.datatypes(self._op_def, Role.PARAMETER, tensor, self._backend)
        missing = [datatype for datatype in expected if datatype not in datatypes]
        if missing:
            yield self._error(
                tensor.at,
                f"expected {' and '.join(missing)} among the datatypes of the parameter '{tensor.name}', since the "
                f"argument has the type {argument.type}; found {', '.join(datatypes)}",
                "the datatype was chosen by the type alone. ExecuTorch gives an int and a bool as unsigned, 32 bits",
                f"add <Datatype>{missing[0]}</Datatype>",
            )
        if tensor.shape.rank not in ("SCALAR", "ND"):
            yield self._error(
                tensor.at,
                f"expected the rank SCALAR of the parameter '{tensor.name}', since the argument is one number; found "
                f"{tensor.shape.rank}",
                "the parameter was copied from one that is a tensor",
                "write <Rank>SCALAR</Rank>",
            )
        if isinstance(argument.type, OptionalType) and tensor.mandatory:
            yield self._error(
                tensor.at,
                f"expected a parameter '{tensor.name}' that is not mandatory, since the argument of "
                f"{self._schema.name} may be None",
                "ExecuTorch's builder leaves None out, and the op's validation refuses a node without the parameter",
                "write <Mandatory>false</Mandatory>, or make the argument not optional in the schema",
            )
        if _base(argument) in ("int", "SymInt", "Scalar"):
            yield self._warning(
                tensor.at,
                f"ExecuTorch does not lower a negative int for the argument '{argument.name}' of {self._schema.name}",
                "ExecuTorch gives an int as QNN_DATATYPE_UINT_32",
                "pass a number that may be negative as a float",
            )

    # Outputs

    def _outputs(self) -> Iterator[Finding]:
        outputs, returns = self._op_def.outputs, self._schema.returns
        if any(_type_name(result.type) != "Tensor" for result in returns):
            yield self._error(
                self._op_def.at,
                f"expected only tensors as results of {self._schema.name}; found "
                f"{', '.join(str(result) for result in returns)}",
                "ExecuTorch's builder makes an output of each tensor in a tuple, and supports no lists or numbers",
                "return a Tensor, or a tuple of tensors such as (Tensor, Tensor)",
            )
            return
        least = sum(tensor.mandatory for tensor in outputs)
        if not least <= len(returns) <= len(outputs) and not any(tensor.repeated for tensor in outputs):
            yield self._error(
                outputs[0].at if outputs else self._op_def.at,
                f"expected {least}{f' to {len(outputs)}' if least != len(outputs) else ''} results of "
                f"{self._schema.name}, one for each output of {self._op_def.name}; found {len(returns)}",
                "the XML and the operator were not changed together",
                "give the op an <Output> for each tensor that the operator returns",
            )

    def _tensor_datatypes(self, role: Role, tensor: Tensor) -> Iterator[Finding]:
        datatypes = self._package.datatypes(self._op_def, role, tensor, self._backend)
        if not TENSOR_DATATYPES & set(datatypes):
            yield self._error(
                tensor.at,
                f"expected a datatype of ExecuTorch's tensors for the {role.value} '{tensor.name}' of "
                f"{self._op_def.name}; found {', '.join(datatypes)}",
                "the XML was written for another framework",
                "add QNN_DATATYPE_FLOAT_32, or QNN_DATATYPE_UFIXED_POINT_8 for quantized models",
            )


def _without_optional(argument: Argument) -> BaseType | OptionalType | ListType:
    return argument.type.element if isinstance(argument.type, OptionalType) else argument.type


def _base(argument: Argument) -> str:
    """Returns the name of the element type of lists and optionals."""
    type_ = argument.type
    while not isinstance(type_, BaseType):
        type_ = type_.element
    return type_.name


def _type_name(type_: BaseType | OptionalType | ListType) -> str:
    return type_.name if isinstance(type_, BaseType) else str(type_)
