"""The sources of an op package for the CPU backend."""

from __future__ import annotations

from collections.abc import Sequence

from qnn.opdef.model import OpDef, Package, Role, Tensor
from qnn.skeleton.parts import TEMPLATES, comment, cpp_names, free_name, lines, signatures

_PREFIX = "QNN_DATATYPE_"
# The CPU backend's names of datatypes. A fixed-point tensor has integers with a scale and an offset.
_DATATYPES = {
    **{f"{_PREFIX}{name}": name for name in ("BOOL_8", "FLOAT_32", "INT_8", "INT_32", "UINT_8", "UINT_32")},
    **{f"{_PREFIX}SFIXED_POINT_{bits}": f"INT_{bits}" for bits in (8, 32)},
    f"{_PREFIX}UFIXED_POINT_8": "UINT_8",
}


def interface(package: Package, op_defs: Sequence[OpDef], xml_names: Sequence[str]) -> str:
    """Returns the source of the interface, by which the backend queries the package and runs nodes."""
    return TEMPLATES.fill(
        "cpu_interface.cpp",
        package=package.name,
        xml_names=" and ".join(xml_names),
        declarations=lines(
            f"Qnn_ErrorHandle_t {op_def.name}Execute(const QnnCpuOpPackage_Node_t& node);" for op_def in op_defs
        ),
        signatures=signatures(op_defs, has_execute=True),
        op_count=str(len(op_defs)),
        op_names=", ".join(f'"{op_def.name}"' for op_def in op_defs),
        indent=" " * len(f"Qnn_ErrorHandle_t {package.name}CreateOpImpl"),
    )


def op(package: Package, op_def: OpDef) -> str:
    """Returns the source of an op, which the user completes."""
    return TEMPLATES.fill(
        "cpu_op.cpp",
        package=package.name,
        op=op_def.name,
        description=comment(op_def.description),
        body=_body(package, op_def),
    )


def _body(package: Package, op_def: OpDef) -> str:
    names = cpp_names(op_def)
    first = op_def.inputs[0]
    code = [
        *_tensors(op_def, "const ", "Inputs", op_def.inputs),
        *_tensors(op_def, "", "Outputs", op_def.outputs),
    ]
    if op_def.parameters:
        listed = ", ".join(parameter.name for parameter in op_def.parameters)
        code.append(f"  // node.params has, by name: {listed}; scalarParam of a scalar, tensorParam of a tensor.")
    others = [tensor for tensor in (*op_def.inputs, *op_def.outputs) if tensor is not first and tensor.mandatory]
    if others:
        code.append("  // Delete these lines with the first use of each.")
        code += [f"  (void){names[tensor.name]};" for tensor in others]
    code += [f"  (void){_count(op_def, tensor)};" for tensor in (*op_def.inputs, *op_def.outputs) if tensor.repeated]
    outputs = " and ".join(names[tensor.name] for tensor in op_def.outputs)
    code.append(f"  switch ({names[first.name]}{'[0]->' if first.repeated else '.'}dataType) {{")
    datatypes = package.datatypes(op_def, Role.INPUT, first, "CPU")
    for datatype in dict.fromkeys(_DATATYPES[each] for each in datatypes if each in _DATATYPES):
        code += [
            f"    case QNN_CPU_DATATYPE_{datatype}: {{",
            f"      // To write: {outputs}; then QNN_SUCCESS.",
            "      return QNN_OP_PACKAGE_ERROR_GENERAL;",
            "    }",
        ]
    return lines([*code, "    default:", "      return QNN_OP_PACKAGE_ERROR_GENERAL;", "  }"])


def _count(op_def: OpDef, tensor: Tensor) -> str:
    """Returns the name of the variable with the count of a repeated tensor."""
    return free_name(f"{cpp_names(op_def)[tensor.name]}_count", op_def)


def _tensors(op_def: OpDef, const: str, member: str, tensors: Sequence[Tensor]) -> list[str]:
    """Returns C++ that defines variables for a node's single tensors and for its repeated tensors."""
    names = cpp_names(op_def)
    in_node = f"node.{member.lower()}"
    code = []
    before = ""  # The count of a repeated tensor before the present one.
    for index, tensor in enumerate(tensors):
        if tensor.repeated and not before:
            count = _count(op_def, tensor)
            others = f" - {len(tensors) - 1}" if len(tensors) > 1 else ""
            start = f" + {index}" if index else ""
            code.append(f"  {const}QnnCpuOpPackage_Tensor_t* const* {names[tensor.name]} = {in_node}{start};")
            code.append(f"  const uint32_t {count} = node.numOf{member}{others};")
            before = f"{count} + "
        elif tensor.mandatory or index == 0:
            place = f"{before}{index - 1 if before else index}"
            code.append(f"  {const}QnnCpuOpPackage_Tensor_t& {names[tensor.name]} = *{in_node}[{place}];")
    return code
