"""The sources of an op package for the HTP backend."""

from __future__ import annotations

import json
from collections.abc import Sequence

from qnn.opdef.model import OpDef, Package, Role, Tensor
from qnn.skeleton import template
from qnn.skeleton.parts import WIDTH, comment, cpp_names, lines, signatures

# What the HTP backend calls a datatype. A kernel sees no other ones.
_DTYPES = {
    "QNN_DATATYPE_FLOAT_16": "Float16",
    "QNN_DATATYPE_FLOAT_32": "Float32",
    "QNN_DATATYPE_INT_32": "Int32",
    "QNN_DATATYPE_SFIXED_POINT_8": "QInt8",
    "QNN_DATATYPE_SFIXED_POINT_16": "QInt16",
    "QNN_DATATYPE_SFIXED_POINT_32": "QInt32",
    "QNN_DATATYPE_UFIXED_POINT_8": "QUInt8",
    "QNN_DATATYPE_UFIXED_POINT_16": "QUInt16",
}
# The member of Qnn_Scalar_t for a datatype.
_SCALARS = {
    "QNN_DATATYPE_BOOL_8": "bool8Value",
    "QNN_DATATYPE_FLOAT_32": "floatValue",
    **{f"QNN_DATATYPE_INT_{bits}": f"int{bits}Value" for bits in (8, 16, 32)},
    **{f"QNN_DATATYPE_UINT_{bits}": f"uint{bits}Value" for bits in (8, 16, 32)},
}


def interface(package: Package, op_defs: Sequence[OpDef], xml_names: Sequence[str]) -> str:
    """The source of the interface, through which the backend asks what the package has."""
    return template.fill(
        "htp_interface.cpp",
        package=package.name,
        xml_names=" and ".join(xml_names),
        declarations=lines(f"DECLARE_PKG_OPS_OPTS_LIST(PKG_{op_def.name})" for op_def in op_defs),
        signatures=signatures(op_defs),
        op_count=str(len(op_defs)),
        op_names=", ".join(f'"{op_def.name}"' for op_def in op_defs),
    )


def op(package: Package, op_def: OpDef) -> str:
    """The source of an op, which the user completes."""
    names = cpp_names(op_def)
    arguments = [
        *(f"TensorType& {names[tensor.name]}" for tensor in op_def.outputs),
        *(f"const TensorType& {names[tensor.name]}" for tensor in op_def.inputs),
        *(f"const Tensor& {names[tensor.name]}" for tensor in op_def.parameters),
    ]
    return template.fill(
        "htp_op.cpp",
        package=package.name,
        op=op_def.name,
        description=comment(op_def.description),
        arguments=_arguments(f"GraphStatus {op_def.name}Impl(", arguments, ") {"),
        repeated=_repeated(op_def),
        param_order=_param_order(op_def),
        body=_body(package, op_def, names),
    )


def _repeated(op_def: OpDef) -> str:
    names = [tensor.name for tensor in op_def.inputs + op_def.outputs if tensor.repeated]
    if not names:
        return ""
    return (
        f"// There may be any number of {' and of '.join(names)}:\n"
        "// write a function and a DEF_PACKAGE_OP for each number that models have.\n"
    )


def _param_order(op_def: OpDef) -> str:
    """What says in which order parameters become arguments, and what takes the place of one that a node lacks."""
    if not op_def.parameters:
        return ""
    functions = [_default(op_def, parameter) for parameter in op_def.parameters]
    entries = [
        f'"{parameter.name}", {"true" if parameter.mandatory else "false"}, {function[0] if function else "nullptr"}'
        for parameter, function in zip(op_def.parameters, functions, strict=True)
    ]
    order = _arguments("DEF_PACKAGE_PARAM_ORDER(", [f'"{op_def.name}"', *entries], ")")
    defaults = "".join(f"\n{function[1]}" for function in functions if function)
    return f"{defaults}\nDEF_PACKAGE_PARAM_ORDER({order})\n"


def _default(op_def: OpDef, parameter: Tensor) -> tuple[str, str] | None:
    """A pointer to the default of a parameter, and the C++ that defines it; None without a scalar default."""
    datatype = next((datatype for datatype in parameter.datatypes if datatype in _SCALARS), None)
    if parameter.mandatory or datatype is None or not isinstance(parameter.default, int | float):
        return None
    name = f"{cpp_names(op_def)[parameter.name]}_default"
    value = json.dumps(parameter.default)
    code = [
        f"static Qnn_Param_t {name} = [] {{",
        "  Qnn_Param_t param = QNN_PARAM_INIT;",
        "  param.paramType = QNN_PARAMTYPE_SCALAR;",
        f'  param.name = "{parameter.name}";',
        f"  param.scalarParam.dataType = {datatype};",
        f"  param.scalarParam.{_SCALARS[datatype]} = {value};",
        "  return param;",
        "}();",
    ]
    return f"&{name}", lines(code)


def _body(package: Package, op_def: OpDef, names: dict[str, str]) -> str:
    """The cases that the user completes: one for each datatype that the first input may have."""
    first = op_def.inputs[0]
    outputs = " and ".join(names[tensor.name] for tensor in op_def.outputs)
    inputs = ", ".join(names[tensor.name] for tensor in op_def.inputs + op_def.parameters)
    datatypes = package.datatypes(op_def, Role.INPUT, first, "HTP")
    unused = [f"  (void){names[tensor.name]};" for _, tensor in op_def.tensors if tensor is not first]
    code = ["  // Delete these lines with the first use of each.", *unused]
    code.append(f"  switch ({names[first.name]}.get_dtype_intfc().dtype) {{")
    for dtype in dict.fromkeys(_DTYPES[datatype] for datatype in datatypes if datatype in _DTYPES):
        code += [
            f"    case DType::{dtype}: {{",
            f"      // To write: {outputs} from {inputs}; then GraphStatus::Success.",
            "      return GraphStatus::ErrorPrecision;",
            "    }",
        ]
    return lines([*code, "    default:", "      return GraphStatus::ErrorPrecision;", "  }"])


def _arguments(head: str, arguments: Sequence[str], tail: str) -> str:
    """Arguments in one line, or each line as long as it may be and below the first argument."""
    rows = [""]
    for number, argument in enumerate(arguments):
        end = "," if number + 1 < len(arguments) else tail
        joined = f"{rows[-1]} {argument}" if rows[-1] else argument
        if rows[-1] and len(head) + len(joined) + len(end) > WIDTH:
            rows.append(argument)
        else:
            rows[-1] = joined
        rows[-1] += "," if number + 1 < len(arguments) else ""
    return ("\n" + " " * len(head)).join(rows)
