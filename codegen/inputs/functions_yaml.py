"""Reads the operators of functions.yaml and custom_ops.yaml, with their schemas and kernels.

An entry names an operator of PyTorch (`op:`, functions.yaml only) or has a whole schema (`func:`), and binds a kernel
to the operator in ExecuTorch's form or in the legacy form. One file may have both forms:

    - op: add.out
      kernels:
        - arg_meta: null
          kernel_name: custom::add_out

    - func: my_ops::mul3.out(Tensor input, *, Tensor(a!) out) -> Tensor(a!)
      dispatch:
        CPU: custom::mul3_out

Kernels may be bound to certain dtypes and dim orders, see codegen/inputs/arg_meta.py.

As in ExecuTorch, a kernel's C++ name is the given name with `native::` before the last part:
`custom::native::add_out`. A name without a namespace is in `at::native`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from codegen.artifacts import declared_operators
from codegen.cache import content_cache
from codegen.inputs import arg_meta, yaml_reader
from codegen.model import aten_operators, cpp_names, kernel_keys, schema, signatures
from codegen.model.operators import Declaration, Kernel, Operator
from codegen.model.schema_types import Dialect
from diagnostics import suggest
from diagnostics.errors import MAX_FINDINGS, Finding, InputError, Location

_KERNEL_FORM = "'kernels: [{arg_meta: null, kernel_name: my_namespace::my_kernel}]'"
_ENTRY_KEYS = frozenset({"op", "func", "kernels", "dispatch", "type_alias", "dim_order_alias"})
# Further keys of native_functions.yaml, which do not matter for kernels that are called with EValues.
_IGNORED_KEYS = frozenset(
    {
        "autogen",
        "category_override",
        "cpp_no_default_args",
        "device_check",
        "device_guard",
        "manual_cpp_binding",
        "manual_kernel_registration",
        "precomputed",
        "python_module",
        "structured",
        "structured_delegate",
        "structured_inherits",
        "tags",
        "ufunc_inner_loop",
        "use_const_ref_for_mutable_tensors",
        "variants",
    }
)
# The keys of the operators of these rules only, in kernels/optimized/own_custom_ops.yaml.
_OWN_NAMESPACE = "rules_executorch::"
_OWN_KEYS = frozenset({"dim_orders"})
_KERNEL_KEYS = frozenset({"arg_meta", "kernel_name"})
_QUALIFIED_NAME = re.compile(r"(?:::)?[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*", re.ASCII)
# The runtime builds "ns::name.overload" in a buffer of 100 bytes, with a terminating zero.
_MAX_OPERATOR_NAME = 99
_T = TypeVar("_T")


def read(
    functions_yaml: str | None,
    custom_ops_yaml: str | None,
    fallback_yaml: str | None = None,
    *,
    aten_custom_ops_yaml: str | None = None,
    aten_fallback_yaml: str | None = None,
    declarations: Sequence[str] = (),
    kernel_yamls: Sequence[str] = (),
    max_kernels: int,
) -> Mapping[str, Operator]:
    """Reads the operators of YAML files, by their full names, in the files' order.

    Args:
        functions_yaml: the kernels of PyTorch's own operators.
        custom_ops_yaml: the schemas and kernels of custom operators.
        fallback_yaml: as functions_yaml, for operators that functions_yaml does not have.
        aten_custom_ops_yaml: as custom_ops_yaml, for kernels that take `at::Tensor`.
        aten_fallback_yaml: as aten_custom_ops_yaml, for operators that no other file has.
        declarations: files of 'codegen collect', with the custom operators that C++ declares.
        kernel_yamls: as fallback_yaml, the YAMLs of kernel libraries. No two of them have an operator in common.
        max_kernels: the capacity of the runtime's registry.

    Raises:
        InputError: the files have mistakes. The error has all findings.
    """
    operators: dict[str, Operator] = {}
    findings: list[Finding] = []
    for file in declarations:
        found, wrong = _operators_of_declarations(file)
        findings += [*wrong, *_added(found, operators)]
    # An operator of an earlier layer hides the operator of a later layer.
    layers = (
        ((functions_yaml, True, False), (custom_ops_yaml, False, False), (aten_custom_ops_yaml, False, True)),
        ((fallback_yaml, True, False),),
        tuple((path, True, False) for path in kernel_yamls),
        ((aten_fallback_yaml, False, True),),
    )
    for depth, layer in enumerate(layers):
        overridden = frozenset(operators) if depth else frozenset()
        for path, allow_op, is_aten in layer:
            if path is None:
                continue
            try:
                found, wrong = _operators(path, allow_op, is_aten, max_kernels)
            except InputError as error:
                findings += error.findings
                continue
            findings += wrong
            findings += _added((operator for operator in found if operator.name not in overridden), operators)
            _hide((operator for operator in found if operator.name in overridden), operators)
    findings += _conflicting_kernels(operators.values())
    findings += _kernels_that_are_namespaces(operators.values())
    if findings:
        raise InputError(findings)
    return operators


def names(path: str) -> list[str]:
    """Returns the full names of the operators in a YAML file, in the file's order. Kernels are not read.

    Raises:
        InputError: the file has mistakes. The error has all findings.
    """
    found, findings = _each_entry(path, lambda entry: str(_schema(_mapping(entry), allow_op=True)[0].name))
    if findings:
        raise InputError(findings)
    return found


@content_cache.by_content
def _operators(
    path: str, allow_op: bool, is_aten: bool, max_kernels: int
) -> tuple[Sequence[Operator], Sequence[Finding]]:
    """Returns the valid operators of one file, and the findings for the other entries."""
    return _each_entry(path, lambda entry: _operator(entry, allow_op, is_aten, max_kernels))


def _each_entry(path: str, read_entry: Callable[[yaml_reader.Node], _T]) -> tuple[list[_T], list[Finding]]:
    """Returns the results for the valid entries of a file, and the findings for the other entries."""
    results: list[_T] = []
    findings: list[Finding] = []
    for entry in _entries(path):
        try:
            results.append(read_entry(entry))
        except InputError as error:
            findings += error.findings
        if len(findings) > MAX_FINDINGS:
            break  # An error shows no more findings, and the search for similar names takes time.
    return results, findings


@content_cache.by_content
def _operators_of_declarations(path: str) -> tuple[Sequence[Operator], Sequence[Finding]]:
    """Returns the valid operators of a file of 'codegen collect', and the findings for the other declarations."""
    operators: list[Operator] = []
    findings: list[Finding] = []
    for declaration in declared_operators.read(path):
        try:
            operators.append(_operator_of_declaration(declaration))
        except InputError as error:
            findings += error.findings
    return operators, findings


def _operator_of_declaration(declaration: Declaration) -> Operator:
    file, kernel = Path(declaration.file), declaration.kernel
    location = Location(file.name if file.is_absolute() else declaration.file, declaration.line, 1)
    function_schema = schema.parse(declaration.schema, lambda offset: location)
    _check_schema(function_schema, location, Dialect.EXECUTORCH)
    if not _QUALIFIED_NAME.fullmatch(kernel) or "::" not in kernel.removeprefix("::"):
        raise InputError.of(
            id="bad-kernel-name",
            where=location,
            found=f"'{kernel}', the kernel of {function_schema.name}, is not the whole name of a C++ function",
            cause="its namespace was left out, or it is an expression",
            fix="give it with its namespaces, as in my_namespace::my_kernel, wherever the declaration stands",
        )
    _check_kernel_name(kernel, function_schema.name, location)
    return Operator(function_schema, (Kernel(kernel.removeprefix("::"), (kernel_keys.DEFAULT,), location),), location)


def _entries(path: str) -> tuple[yaml_reader.Node, ...]:
    root = yaml_reader.read(path)
    if root is None or (isinstance(root, yaml_reader.Sequence) and not root.items):
        raise InputError.of(
            id="empty-yaml",
            where=path,
            found="the file has no entries",
            cause="it is empty, or all of it is commented out",
            fix="add an operator, or remove the file from the target",
        )
    if not isinstance(root, yaml_reader.Sequence):
        raise _wrong_type("the file", "a list of entries", root, "the '-' before an entry is missing")
    return root.items


def _added(found: Iterable[Operator], operators: dict[str, Operator]) -> list[Finding]:
    """Adds operators to a dict. Returns a finding for each operator that the dict already has."""
    findings: list[Finding] = []
    for operator in found:
        first = operators.setdefault(operator.name, operator)
        if first is not operator:
            findings.append(
                Finding(
                    id="duplicate-operator",
                    where=operator.location,
                    found=f"duplicate operator {operator.name}, first given at {first.location}",
                    cause="an entry was copied, or both YAML files of the target provide it",
                    fix="keep one of the two, or give the other its own namespace or overload",
                )
            )
    return findings


def _hide(overridden: Iterable[Operator], operators: dict[str, Operator]) -> None:
    """Notes the kernels for all calls of a later layer where the operator of an earlier layer has no such kernel."""
    for operator in overridden:
        first = operators[operator.name]
        if first.default is None and first.hidden is None:
            operators[operator.name] = dataclasses.replace(first, hidden=operator.default)


def _conflicting_kernels(operators: Iterable[Operator]) -> list[Finding]:
    """Returns findings for kernels of several operators with equal parameters and different return types.

    C++ cannot declare such functions.
    """
    findings: list[Finding] = []
    users: dict[str, list[Operator]] = {}
    for operator in operators:
        # One function may be the kernel of several keys.
        for kernel in {kernel.function: kernel for kernel in operator.kernels}.values():
            for first in users.setdefault(kernel.function, []):
                both = (operator.schema, first.schema)
                returned, first_returned = (signatures.return_type(schema, kernel.dialect) for schema in both)
                if returned == first_returned:
                    continue
                types, first_types = (signatures.demangled_parameters(schema, kernel.dialect) for schema in both)
                if types == first_types:
                    findings.append(
                        Finding(
                            id="conflicting-kernel",
                            where=kernel.location,
                            found=f"the kernel {kernel.function} of {operator.name} returns {returned}, "
                            f"but for {first.name}, with the same parameters, {first_returned}",
                            cause="two operators share a kernel although their schemas return different things",
                            fix=f"use another kernel for {operator.name}, or the same return type as at "
                            f"{first.location}",
                        )
                    )
            users[kernel.function].append(operator)
    return findings


def _kernels_that_are_namespaces(operators: Iterable[Operator]) -> list[Finding]:
    """Returns findings for kernels whose full name is also the namespace of another kernel. C++ does not allow both."""
    kernels = {kernel.function: (kernel, operator) for operator in operators for kernel in operator.kernels}
    inner: dict[str, Kernel] = {}
    for kernel, _ in kernels.values():
        parts = kernel.function.split("::")
        for count in range(1, len(parts)):
            inner.setdefault("::".join(parts[:count]), kernel)
    return [
        Finding(
            id="kernel-and-namespace",
            where=kernel.location,
            found=f"the kernel {name} of {operator.name} has the name of the namespace of {inner[name].function}, the "
            f"kernel at {inner[name].location}",
            cause="a function was named like the namespace of others",
            fix="rename the function or the namespace, in its source and here",
        )
        for name, (kernel, operator) in kernels.items()
        if name in inner
    ]


def _operator(entry: yaml_reader.Node, allow_op: bool, is_aten: bool, max_kernels: int) -> Operator:
    entry = _mapping(entry)
    _check_keys(entry, _ENTRY_KEYS | _IGNORED_KEYS | _own_keys(entry), "an operator's entry")
    function_schema, location = _schema(entry, allow_op)
    _check_schema(function_schema, location, Dialect.ATEN if is_aten else Dialect.EXECUTORCH)
    kernels = _kernels(entry, function_schema, max_kernels)
    if is_aten:
        kernels = tuple(dataclasses.replace(kernel, is_aten=True) for kernel in kernels)
    return Operator(function_schema, kernels, location)


def _check_schema(function_schema: schema.FunctionSchema, location: Location, dialect: Dialect) -> None:
    """Raises an error if the runtime or a kernel does not support an operator of the schema."""
    findings = signatures.unsupported(function_schema, location, dialect)
    if len(str(function_schema.name)) > _MAX_OPERATOR_NAME:
        findings.append(
            Finding(
                id="name-too-long",
                where=location,
                found=f"the operator's name {function_schema.name} has more than {_MAX_OPERATOR_NAME} characters",
                cause="ExecuTorch's runtime looks operators up by names of at most that length",
                fix="choose a shorter namespace, name or overload",
            )
        )
    if findings:
        raise InputError(findings)


def _mapping(entry: yaml_reader.Node) -> yaml_reader.Mapping:
    if not isinstance(entry, yaml_reader.Mapping):
        raise _wrong_type("the entry", "a mapping with 'op' or 'func'", entry, "the key before ':' is missing")
    return entry


def _schema(entry: yaml_reader.Mapping, allow_op: bool) -> tuple[schema.FunctionSchema, Location]:
    """Returns the schema of an entry, and the place of the name or schema."""
    if ("op" in entry.entries) == ("func" in entry.entries):
        has = "both 'op' and 'func'" if "op" in entry.entries else "neither 'op' nor 'func'"
        raise InputError.of(
            id="op-or-func",
            where=entry.location,
            found=f"the entry has {has}",
            cause="an entry names its operator in exactly one way",
            fix="give 'op: add.out' for an operator of PyTorch, or 'func:' with the schema of your own",
        )
    if "func" in entry.entries:
        func = _string(entry, "func")
        return schema.parse(func.text, func.locate), func.location

    op = _string(entry, "op")
    if not allow_op:
        raise InputError.of(
            id="op-in-custom-ops",
            where=entry.key_locations["op"],
            found=f"'op: {op.text}' in custom_ops.yaml",
            cause="'op' names an operator of PyTorch, and custom_ops.yaml is for operators that PyTorch does not have",
            fix="move the entry to functions.yaml, or give the custom operator's schema with 'func:'",
        )
    name = schema.parse_operator_name(op.text)
    found = name and aten_operators.find(name)
    if found:
        return found, op.location
    if name and name.namespace != "aten":
        cause = "the operator is not one of PyTorch's own, whose namespace is aten"
        fix = "give the operator's whole schema with 'func:' instead"
    else:
        cause = f"a typo, or an operator of another torch version; the schemas are of {aten_operators.torch_version()}"
        fix = "correct the name, or give the operator's whole schema with 'func:' instead"
    near = suggest.nearest_operators(str(name) if name else op.text, aten_operators.names())
    near = tuple(suggestion.removeprefix("aten::") for suggestion in near)
    raise InputError.of(
        op.location, f"unknown operator '{op.text}'{suggest.did_you_mean(near)}", cause, fix, id="unknown-operator"
    )


def _kernels(
    entry: yaml_reader.Mapping, function_schema: schema.FunctionSchema, max_kernels: int
) -> tuple[Kernel, ...]:
    operator = str(function_schema.name)
    dispatch = entry.entries.get("dispatch")
    # ExecuTorch's own functions.yaml has an entry with `kernels` and an empty `dispatch`.
    is_empty = isinstance(dispatch, yaml_reader.Mapping) and not dispatch.entries
    if "kernels" in entry.entries and dispatch is not None and not is_empty:
        raise InputError.of(
            id="kernels-and-dispatch",
            where=entry.key_locations["dispatch"],
            found=f"{operator} has both 'kernels' and 'dispatch'",
            cause="'dispatch' is the legacy form of 'kernels', and it is not clear which of the two is meant",
            fix="remove 'dispatch'",
        )
    if "kernels" in entry.entries:
        return _kernels_of_kernels(entry, function_schema, max_kernels)
    if "dispatch" in entry.entries:
        name = _kernel_of_dispatch(entry, operator)
        return (Kernel(_qualified(name, operator), (kernel_keys.DEFAULT,), name.location),)
    raise _missing_kernel(entry.location, f"{operator} has no 'kernels'")


def _check_kernel_name(name: str, operator: object, location: Location) -> None:
    for part in name.split("::"):
        if not cpp_names.is_possible(part):
            raise InputError.of(
                id="bad-kernel-name",
                where=location,
                found=f"'{name}', the kernel of {operator}, has the part '{part}', a keyword or macro of C++",
                cause="the name was made from an operator's, without a look at C++",
                fix="give the function or the namespace another name, in its source and here",
            )


def _qualified(name: yaml_reader.Scalar, operator: str) -> str:
    """Returns a kernel's C++ name."""
    if not name.text:
        raise _missing_kernel(name.location, f"the kernel's name of {operator} is empty")
    if not _QUALIFIED_NAME.fullmatch(name.text):
        raise InputError.of(
            id="bad-kernel-name",
            where=name.location,
            found=f"'{name.text}', the kernel of {operator}, is not a C++ name",
            cause="a typo, or parentheses or template arguments after the name",
            fix="give the qualified name alone, such as my_namespace::my_kernel",
        )
    _check_kernel_name(name.text, operator, name.location)
    namespace, _, function = name.text.removeprefix("::").rpartition("::")
    return f"{namespace or 'at'}::native::{function}"


def _kernels_of_kernels(
    entry: yaml_reader.Mapping, function_schema: schema.FunctionSchema, max_kernels: int
) -> tuple[Kernel, ...]:
    operator = str(function_schema.name)
    nodes = entry.entries["kernels"]
    if not isinstance(nodes, yaml_reader.Sequence):
        raise _wrong_type(f"'kernels' of {operator}", "a list", nodes, "the '-' before 'arg_meta' is missing")
    if not nodes.items:
        raise _missing_kernel(nodes.location, f"'kernels' of {operator} is empty")
    aliases = arg_meta.aliases(entry.entries.get("type_alias"), entry.entries.get("dim_order_alias"))
    kernels: list[Kernel] = []
    findings: list[Finding] = []
    first_users: dict[str, Kernel] = {}
    for node in nodes.items:
        try:
            kernel = _kernel(node, function_schema, aliases, max_kernels)
        except InputError as error:
            findings += error.findings
            continue
        kernels.append(kernel)
        twice = [key for key in kernel.keys if first_users.setdefault(key, kernel) is not kernel]
        if twice:
            findings.append(
                Finding(
                    id="duplicate-kernel",
                    where=kernel.location,
                    found=f"{operator} has two kernels for {kernel_keys.readable(twice[0])}: {kernel.function}, and "
                    f"{first_users[twice[0]].function} at {first_users[twice[0]].location}",
                    cause="an entry of 'kernels' was copied, or the alternatives of two aliases overlap",
                    fix="keep one of the two, or take the dtypes and dim orders out of one that the other is for",
                )
            )
    if findings:
        raise InputError(findings)
    return tuple(kernels)


def _kernel(
    node: yaml_reader.Node, function_schema: schema.FunctionSchema, aliases: arg_meta.Aliases, max_kernels: int
) -> Kernel:
    operator = str(function_schema.name)
    if not isinstance(node, yaml_reader.Mapping):
        cause = "'kernel_name:' is missing before the name"
        raise _wrong_type(f"the kernel of {operator}", "a mapping with 'kernel_name'", node, cause)
    _check_keys(node, _KERNEL_KEYS, "an entry of 'kernels'")
    if "kernel_name" not in node.entries:
        raise _missing_kernel(node.location, f"the kernel of {operator} has no 'kernel_name'")
    name = _string(node, "kernel_name")
    meta = node.entries.get("arg_meta")
    if meta is None or (isinstance(meta, yaml_reader.Scalar) and meta.tag == "null"):
        keys: tuple[str, ...] = (kernel_keys.DEFAULT,)
    else:
        keys = arg_meta.keys(function_schema, meta, aliases, max_kernels)
    return Kernel(_qualified(name, operator), keys, name.location)


def _kernel_of_dispatch(entry: yaml_reader.Mapping, operator: str) -> yaml_reader.Scalar:
    dispatch = entry.entries["dispatch"]
    if not isinstance(dispatch, yaml_reader.Mapping):
        raise _wrong_type(f"'dispatch' of {operator}", "a mapping such as 'CPU: ns::fn'", dispatch, "'CPU:' is missing")
    for keys in dispatch.entries:
        if "CPU" in (key.strip() for key in keys.split(",")):
            return _string(dispatch, keys)
    keys = ", ".join(dispatch.entries) or "no key"
    raise _missing_kernel(dispatch.location, f"'dispatch' of {operator} has {keys}, but not CPU")


def _own_keys(entry: yaml_reader.Mapping) -> frozenset[str]:
    """Returns the further keys that an entry may have if it is an operator of these rules."""
    func = entry.entries.get("func")
    return _OWN_KEYS if isinstance(func, yaml_reader.Scalar) and func.text.startswith(_OWN_NAMESPACE) else frozenset()


def _check_keys(mapping: yaml_reader.Mapping, known: frozenset[str], what: str) -> None:
    unknown = [key for key in mapping.entries if key not in known]
    findings = [
        Finding(
            id="unknown-key",
            where=mapping.key_locations[key],
            found=f"unknown key '{key}' in {what}{suggest.did_you_mean(suggest.nearest(key, known))}",
            cause="a typo, or wrong indentation that puts the key in the wrong place",
            fix=f"use one of {', '.join(sorted(known - _IGNORED_KEYS))}",
        )
        for key in unknown[:MAX_FINDINGS]
    ]
    if findings:
        raise InputError(findings)


def _string(mapping: yaml_reader.Mapping, key: str) -> yaml_reader.Scalar:
    value = mapping.entries[key]
    if isinstance(value, yaml_reader.Scalar) and value.tag == "str":
        return value
    if key in ("kernel_name", "CPU") and isinstance(value, yaml_reader.Scalar) and value.tag == "null":
        raise _missing_kernel(mapping.key_locations[key], f"'{key}' has no value")
    raise _wrong_type(f"'{key}'", "text", value, "the value is missing, wrongly indented, or needs quotes")


def _wrong_type(what: str, expected: str, node: yaml_reader.Node, cause: str) -> InputError:
    return InputError.of(
        id="wrong-yaml-type",
        where=node.location,
        found=f"{what} is {yaml_reader.kind(node)}, not {expected}",
        cause=cause,
        fix=f"write it as in '- op: add.out' with {_KERNEL_FORM}",
    )


def _missing_kernel(location: Location, found: str) -> InputError:
    return InputError.of(
        id="missing-kernel-name",
        where=location,
        found=f"missing kernel name: {found}",
        cause="the line was forgotten, or is indented as part of another entry",
        fix=f"name the kernel with {_KERNEL_FORM}",
    )
