"""The sources of an op package for the HTP backend."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from qnn.opdef.model import OpDef, Package, Role, Tensor
from qnn.skeleton.parts import TEMPLATES, WIDTH, comment, cpp_names, free_name, lines, signatures

# The HTP backend's names of datatypes. A kernel gets no other datatypes.
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
# The largest count of a repeated tensor that the generated functions support.
_MOST_REPEATED = 4
# The member of Qnn_Scalar_t for a datatype.
_SCALARS = {
    "QNN_DATATYPE_BOOL_8": "bool8Value",
    "QNN_DATATYPE_FLOAT_32": "floatValue",
    **{f"QNN_DATATYPE_INT_{bits}": f"int{bits}Value" for bits in (8, 16, 32)},
    **{f"QNN_DATATYPE_UINT_{bits}": f"uint{bits}Value" for bits in (8, 16, 32)},
}


def interface(package: Package, op_defs: Sequence[OpDef], xml_names: Sequence[str]) -> str:
    """Returns the source of the interface, by which the backend queries the package."""
    return TEMPLATES.fill(
        "htp_interface.cpp",
        package=package.name,
        xml_names=" and ".join(xml_names),
        declarations=lines(f"DECLARE_PKG_OPS_OPTS_LIST(PKG_{op_def.name})" for op_def in op_defs),
        signatures=signatures(op_defs),
        op_count=str(len(op_defs)),
        op_names=", ".join(f'"{op_def.name}"' for op_def in op_defs),
    )


def op(package: Package, op_def: OpDef) -> str:
    """Returns the source of an op, which the user completes."""
    names = cpp_names(op_def)
    functions = _of_numbers(op_def, names)
    return TEMPLATES.fill(
        "htp_op.cpp",
        package=package.name,
        op=op_def.name,
        description=comment(op_def.description),
        arguments=_arguments(f"GraphStatus {op_def.name}Impl(", _declared(op_def, names), ") {"),
        repeated="".join(functions.values()),
        definitions=lines(
            f'DEF_PACKAGE_OP(({function}<Tensor>), "{op_def.name}")' for function in functions or [f"{op_def.name}Impl"]
        ),
        param_order=_param_order(op_def),
        body=_body(package, op_def, names),
    )


def _declared(op_def: OpDef, names: Mapping[str, str], number: int | None = None) -> list[str]:
    """Returns the parameters of the function that computes an op. With `number`, repeated tensors have that count."""
    declared = []
    for type_, tensors in (("TensorType", op_def.outputs), ("const TensorType", op_def.inputs)):
        for tensor in tensors:
            name = names[tensor.name]
            if not tensor.repeated:
                declared.append(f"{type_}& {name}")
            elif number is None:
                declared += [f"{type_}* const* {name}", f"size_t {_count(op_def, name)}"]
            else:
                declared += [f"{type_}& {each}" for each in _each(op_def, name, number)]
    return [*declared, *(f"const Tensor& {names[parameter.name]}" for parameter in op_def.parameters)]


def _count(op_def: OpDef, name: str) -> str:
    """Returns the name of the parameter with the count of a repeated tensor."""
    return free_name(f"{name}_count", op_def)


def _each(op_def: OpDef, name: str, number: int) -> list[str]:
    """Returns the names of `number` tensors."""
    return [free_name(f"{name}_{index}", op_def) for index in range(number)]


def _of_numbers(op_def: OpDef, names: Mapping[str, str]) -> dict[str, str]:
    """Returns the functions that the backend calls for an op with repeated tensors, one for each count."""
    repeated = [(role, tensor) for role, tensor in op_def.tensors if tensor.repeated]
    if not repeated:
        return {}
    listed = " and of ".join(names[tensor.name] for _, tensor in repeated)
    functions = {}
    for number in range(1, _MOST_REPEATED + 1):
        function = f"{op_def.name}Of{number}"
        head = _arguments(f"GraphStatus {function}(", _declared(op_def, names, number), ") {")
        code = ["template <typename TensorType>", f"GraphStatus {function}({head}) {{"]
        for role, tensor in repeated:
            const = "const " if role is Role.INPUT else ""
            addresses = ", ".join(f"&{each}" for each in _each(op_def, names[tensor.name], number))
            code.append(f"  {const}TensorType* const {names[tensor.name]}[] = {{{addresses}}};")
        passed = [
            f"{names[tensor.name]}, {number}" if tensor.repeated else names[tensor.name]
            for tensor in (*op_def.outputs, *op_def.inputs, *op_def.parameters)
        ]
        code += [f"  return {op_def.name}Impl<TensorType>({', '.join(passed)});", "}", ""]
        functions[function] = lines(code)
    first, *others = functions
    said = (
        "// The backend calls a function that has as many arguments as a node has tensors. There may be any number of\n"
        f"// {listed}: models with more need more of these functions, each with a DEF_PACKAGE_OP.\n"
    )
    return {first: said + functions[first]} | {name: functions[name] for name in others}


def _param_order(op_def: OpDef) -> str:
    """Returns the declaration of the parameters' order and of the defaults for missing parameters."""
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
    """Returns a pointer to a parameter's default, and the C++ that defines the default; None without a scalar one."""
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
    """Returns the cases that the user completes, one for each datatype of the first input."""
    first = op_def.inputs[0]
    outputs = " and ".join(names[tensor.name] for tensor in op_def.outputs)
    inputs = ", ".join(names[tensor.name] for tensor in op_def.inputs + op_def.parameters)
    datatypes = package.datatypes(op_def, Role.INPUT, first, "HTP")
    unused = [f"  (void){names[tensor.name]};" for _, tensor in op_def.tensors if tensor is not first]
    unused += [f"  (void){_count(op_def, names[tensor.name])};" for _, tensor in op_def.tensors if tensor.repeated]
    code = ["  // Delete these lines with the first use of each.", *unused]
    intfc = f"{names[first.name]}[0]->" if first.repeated else f"{names[first.name]}."
    code.append(f"  switch ({intfc}get_dtype_intfc().dtype) {{")
    for dtype in dict.fromkeys(_DTYPES[datatype] for datatype in datatypes if datatype in _DTYPES):
        code += [
            f"    case DType::{dtype}: {{",
            f"      // To write: {outputs} from {inputs}; then GraphStatus::Success.",
            "      return GraphStatus::ErrorPrecision;",
            "    }",
        ]
    return lines([*code, "    default:", "      return GraphStatus::ErrorPrecision;", "  }"])


def _arguments(head: str, arguments: Sequence[str], tail: str) -> str:
    """Returns arguments in one line, or in full lines that are aligned with the first argument."""
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
