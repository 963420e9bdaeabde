"""Converts calls of functions in ExecuTorch's BUCK files to Bazel targets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from diagnostics.errors import Location
from tools.from_buck import labels, starlark
from tools.from_buck.build_file import Target
from tools.from_buck.values import Call, Code, Glob, Known, Namespace, Select, Sum, Unknown, total

_Kind = Literal["labels", "plain", "visibility", "external"]


@dataclass(frozen=True, slots=True)
class _Parameter:
    """The attribute for a parameter. Several parameters may have the same attribute."""

    attribute: str
    kind: _Kind = "plain"


def _same(kind: _Kind, *names: str) -> dict[str, _Parameter]:
    return {name: _Parameter(name, kind) for name in names}


_COMMON = {
    "labels": _Parameter("tags"),
    "visibility": _Parameter("visibility", "visibility"),
}
_CC = _COMMON | {
    "compiler_flags": _Parameter("copts"),
    "deps": _Parameter("deps", "labels"),
    "exported_deps": _Parameter("deps", "labels"),
    "exported_external_deps": _Parameter("deps", "external"),
    "exported_headers": _Parameter("hdrs", "labels"),
    "exported_linker_flags": _Parameter("linkopts"),
    "exported_preprocessor_flags": _Parameter("defines"),
    "external_deps": _Parameter("deps", "external"),
    "headers": _Parameter("hdrs", "labels"),
    "include_directories": _Parameter("includes"),
    "link_whole": _Parameter("alwayslink"),
    "linker_flags": _Parameter("linkopts"),
    "preprocessor_flags": _Parameter("copts"),
    "public_include_directories": _Parameter("includes"),
    "raw_headers": _Parameter("hdrs", "labels"),
    "resources": _Parameter("data", "labels"),
    "srcs": _Parameter("srcs", "labels"),
}
_CC_PROGRAM = {
    name: p for name, p in _CC.items() if p.attribute not in ("alwayslink", "defines", "hdrs", "includes")
} | {
    "headers": _Parameter("srcs", "labels"),
}
_PYTHON = _COMMON | {
    "deps": _Parameter("deps", "labels"),
    "external_deps": _Parameter("deps", "external"),
    "resources": _Parameter("data", "labels"),
    "srcs": _Parameter("srcs", "labels"),
}
_RULES: Mapping[str, tuple[str, Mapping[str, _Parameter]]] = {
    "cxx_binary": ("cc_binary", _CC_PROGRAM),
    "cxx_library": ("cc_library", _CC),
    "cxx_test": ("cc_test", _CC_PROGRAM),
    "et_operator_library": (
        "et_operator_library",
        _COMMON
        | _same("labels", "deps", "model", "models", "ops_schema_yaml_target", "server_generated_yaml_target")
        | _same("plain", "define_static_targets", "include_all_operators", "include_all_ops", "ops", "ops_dict"),
    ),
    "executorch_generated_lib": (
        "executorch_generated_lib",
        _COMMON
        | _same("labels", "custom_ops_aten_kernel_deps", "custom_ops_yaml_target", "deps", "fallback_yaml_target")
        | _same("labels", "functions_yaml_target", "kernel_deps")
        | _same("plain", "aten_mode", "compiler_flags", "custom_ops_requires_aot_registration")
        | _same("plain", "custom_ops_requires_runtime_registration", "define_static_targets", "dtype_selective_build")
        | _same(
            "plain", "expose_operator_symbols", "include_all_prim_ops", "manual_registration", "support_exceptions"
        ),
    ),
    "executorch_ops_check": ("executorch_ops_check", _COMMON | _same("labels", "deps")),
    "exir_custom_ops_aot_lib": (
        "exir_custom_ops_aot_lib",
        _COMMON | _same("labels", "deps", "kernels", "yaml_target") | _same("plain", "compiler_flags"),
    ),
    "filegroup": ("filegroup", _COMMON | _same("labels", "srcs")),
    "python_binary": ("py_binary", _PYTHON),
    "python_library": ("py_library", _PYTHON),
    "python_test": ("py_test", _PYTHON),
    "python_unittest": ("py_test", _PYTHON),
    # These macros generate from the selections in deps the same as an et_operator_library.
    "selected_operators_genrule": ("et_operator_library", _COMMON | _same("labels", "deps")),
}

# Functions without a meaning in Bazel, which are dropped without a note.
_MEANINGLESS = frozenset(
    (
        *("_allow_third_party_deps", "_is_external_target", "contacts", "define_static_target", "force_static"),
        *("is_external_target", "oncall", "support_exceptions", "supports_python_dlopen", "typing"),
    )
)
# Default values of ExecuTorch's macros. A parameter with such a value is dropped.
_SAYS_NOTHING: tuple[Any, ...] = (None, False, "", [], {}, ())
_LEFT_OUT = {
    "android_deps": "only Buck knows it; use deps, with a select() on @platforms//os:android",
    "base_module": "Python imports by the path in the workspace; use imports",
    "compatible_with": "Bazel's own environments are others; use target_compatible_with",
    "fbcode_deps": "only Buck knows it; use deps, with a select() where they differ by platform",
    "feature": "only Buck knows it; use tags",
    "header_namespace": "headers are included by the path in the workspace; use include_prefix of a cc_library",
    "main_function": "use main, the file that runs",
    "main_module": "use main, the file that runs",
    "platforms": "only Buck knows it; use target_compatible_with",
    "use_default_aten_ops_lib": "only Buck knows it; an executorch_torch_toolchain brings the library of ATen",
    "xplat_deps": "only Buck knows it; use deps, with a select() where they differ by platform",
}
_NOT_CARRIED = {
    "build_optimized_lib": "dtype_selective_build of an executorch_generated_lib compiles the kernels for it",
    "build_portable_header_lib": "dtype_selective_build of an executorch_generated_lib makes the header",
    "build_portable_lib": "dtype_selective_build of an executorch_generated_lib compiles the kernels for it",
    "check_recursive_dependencies": "the build of an executorch_binary fails where kernels are linked twice",
    "codegen_function_header_wrapper": "kernels are tested by kernels/testing",
    "copy_files": "dtype_selective_build of an executorch_generated_lib compiles the sources where they are",
    "cxx_python_extension": "a torch_op_library, or an extension of your own rules",
    "define_supported_features_lib": "kernels are tested by kernels/testing",
    "dtype_header_genrule": "dtype_selective_build of an executorch_generated_lib makes the header",
    "generated_op_test": "kernels are tested by kernels/testing",
    "genrule": "its command has Buck's macros; write a genrule, or an executorch_program where it exports a model",
    "op_test": "kernels are tested by kernels/testing",
    "prim_ops_registry_selective": "include_all_prim_ops = False of an executorch_generated_lib gives the header",
    "selected_prim_operators_genrule": "the output group selected_prim_ops of an et_operator_library has the file",
}
_FLAGS_OF_DEFINES = "-D"

# A library with these attributes only can become an et_kernel_library.
_KERNEL_ATTRIBUTES = frozenset(("copts", "defines", "deps", "hdrs", "name", "srcs", "tags", "visibility"))
_CXX17 = "-std=c++17"


class Converter:
    """Collects the targets of a file, and notes about lost parts.

    Attributes:
        notes: notes about lost parts, with their places.
    """

    def __init__(self, file: Path, module: str) -> None:
        self._file = file
        self._module = module
        self._targets: list[Target] = []
        self._operators: list[str] = []
        self._places: dict[str, Location] = {}
        self.notes: dict[tuple[Location, str], None] = {}

    def note(self, where: Location, text: str) -> None:
        self.notes[where, text] = None

    def known(self) -> dict[str, Any]:
        """Returns the known functions and values, by name."""
        functions: dict[str, Callable[[Call], Any]] = {
            **dict.fromkeys(_RULES, self._rule),
            **dict.fromkeys(_NOT_CARRIED, self._not_carried),
            "ScalarType": _scalar_type,
            "define_op_target": self._define_op_target,
            "export_file": self._export_file,
            "fbcode_target": lambda _: None,
            "get_aten_mode_options": self._aten_mode_options,
            "get_oss_build_kwargs": lambda _: {},
            "glob": _glob,
            "is_fbcode": lambda _: False,
            "is_xplat": lambda _: False,
            "non_fbcode_target": self._indirect,
            "oncall": lambda _: None,
            "op_target": lambda call: dict(call.named),
            "read_config": self._read_config,
            "select": starlark.select,
        }
        members: dict[str, Any] = {name: Known(name, call) for name, call in functions.items()}
        return members | {
            "native": Namespace("native", members),
            "runtime": Namespace("runtime", members | {"is_oss": True}),
        }

    def targets(self) -> list[Target]:
        """Returns the collected targets."""
        kernels = self._kernels()
        targets = [self._finished(target, kernels) for target in self._targets]
        self._look_up_targets(targets)
        self._look_for_dtypes()
        return targets

    # Conversions of calls

    def _add(self, call: Call, rule: str, attributes: dict[str, Any]) -> None:
        name = attributes["name"]
        if not isinstance(name, str):
            what = name.what if isinstance(name, Unknown) else name
            self.note(call.where, f"{call.name} is left out: its name, {what}, is not known here")
        elif name in self._places:
            self.note(call.where, f"{call.name} is left out: there is a target {name} at {self._places[name]}")
        else:
            self._places[name] = call.where
            self._targets.append(Target(rule, attributes))

    def _rule(self, call: Call) -> None:
        function = call.name.rpartition(".")[2]
        rule, parameters = _RULES[function]
        attributes: dict[str, Any] = {"name": call.argument("name", 0)}
        for given, value in call.named.items():
            where = call.places[given]
            if given == "name":
                continue
            if given in parameters:
                parameter = parameters[given]
                converted = self._converted(given, value, parameter, where)
                if converted != []:
                    earlier = attributes.get(parameter.attribute)
                    attributes[parameter.attribute] = converted if earlier is None else _joined(earlier, converted)
            elif not _says_nothing(given, value):
                reason = _LEFT_OUT.get(given, f"{rule} has no such attribute")
                self.note(where, f"{given} of {attributes['name']} is left out: {reason}")
        if rule == "cc_test":
            attributes["deps"] = _joined(attributes.get("deps", []), ["@googletest//:gtest_main"])
        self._add(call, rule, attributes)

    def _converted(self, given: str, value: Any, parameter: _Parameter, where: Location) -> Any:
        """Converts a parameter's value for the attribute. Returns an empty list if nothing is left."""
        convert: dict[_Kind, Callable[[str], str]] = {
            "external": lambda text: labels.external(text, self._module),
            "labels": lambda text: labels.label(text, self._module, self._file),
            "plain": lambda text: text,
            "visibility": labels.visibility,
        }
        converted = self._mapped(given, value, convert[parameter.kind], where)
        if parameter.attribute == "visibility" and isinstance(converted, list):
            public = "//visibility:public"
            converted = [public] if public in converted else list(dict.fromkeys(converted))
        if given == "exported_preprocessor_flags":
            return self._mapped(given, converted, _define, where)
        return converted

    def _mapped(self, given: str, value: Any, convert: Callable[[str], str], where: Location) -> Any:
        match value:
            case Unknown():
                self.note(value.where, f"{value.what}, in {given}, is not known here; left out")
                return []
            case str():
                try:
                    return convert(value)
                except labels.NoCounterpartError as error:
                    self.note(where, f"{value}, in {given}, is left out: it {error}")
                    return []
            case Sum():
                parts = [self._mapped(given, part, convert, where) for part in value.parts]
                return _sum([part for part in parts if part != []])
            case Select():
                return self._select(given, value, convert)
            case list() | tuple():
                return list(self._items(given, value, convert, where))
            case dict():
                return {key: self._mapped(given, inner, lambda text: text, where) for key, inner in value.items()}
            case _:
                return value

    def _items(self, given: str, items: Sequence[Any], convert: Callable[[str], str], where: Location) -> Iterator[Any]:
        seen: set[str] = set()
        for item in items:
            converted = self._mapped(given, item, convert, where)
            if converted == [] or (isinstance(converted, str) and converted in seen):
                continue
            if isinstance(converted, str):
                seen.add(converted)
            yield converted

    def _select(self, given: str, value: Select, convert: Callable[[str], str]) -> Select | list[Any]:
        values: dict[str, Any] = {}
        for condition, inner in value.values.items():
            where = value.places[condition]
            try:
                values[labels.condition(condition)] = self._mapped(given, inner, convert, where)
            except labels.NoCounterpartError as error:
                self.note(where, f"{condition}, in select() of {given}, is left out: it {error}")
        return Select(values, {}) if values else []

    def _export_file(self, call: Call) -> None:
        name = call.argument("name", 0)
        source = call.named.get("src", name)
        if not isinstance(name, str) or source != name:
            self.note(call.where, f"{call.name} is left out: in Bazel a file has its own name alone, {source}")
            return
        visible = self._converted("visibility", call.named.get("visibility", []), _COMMON["visibility"], call.where)
        self._targets.append(Target("exports_files", {"visibility": visible} if visible else {}, [name]))

    def _define_op_target(self, call: Call) -> None:
        name = call.argument("name", 0)
        if not isinstance(name, str):
            self.note(call.where, f"{call.name} is left out: the name of the operator's file is not known here")
            return
        in_aten_mode = call.named.get("is_aten_op", True) is False and call.named.get("aten_mode_needed", True)
        named = {"name": name, "srcs": [f"{name}.cpp"]}
        named |= {key: call.named[key] for key in ("compiler_flags", "deps") if key in call.named}
        known = {*named, "_allow_third_party_deps", "_aten_mode_deps", "aten_mode_needed", "is_aten_op", "is_et_op"}
        named |= {key: value for key, value in call.named.items() if key not in known}
        places = dict.fromkeys(named, call.where) | dict(call.places)
        self._rule(
            Call(
                "cxx_library", call.where, (), named | {"visibility": ["PUBLIC"]}, {**places, "visibility": call.where}
            )
        )
        self._operators.append(name)
        if in_aten_mode:
            deps = ["//executorch/runtime/kernel:kernel_includes_aten", *call.named.get("_aten_mode_deps", [])]
            named |= {"name": f"{name}_aten", "deps": deps, "visibility": ["PUBLIC"]}
            self._rule(
                Call("cxx_library", call.where, (), named, {**places, "visibility": call.where, "deps": call.where})
            )

    def _not_carried(self, call: Call) -> None:
        name = call.argument("name", 0)
        of = f" {name}" if isinstance(name, str) else ""
        self.note(call.where, f"{call.name}{of} is left out: {_NOT_CARRIED[call.name.rpartition('.')[2]]}")

    def _indirect(self, call: Call) -> Any:
        """Converts `non_fbcode_target(_kind = function, ...)`, which calls the function."""
        kind = call.named.get("_kind")
        named = {name: value for name, value in call.named.items() if name != "_kind"}
        if isinstance(kind, Known):
            return kind.call(Call(kind.name, call.where, call.positional, named, call.places))
        self.note(call.where, f"{call.name} is left out: what it calls is not known here")
        return None

    def _read_config(self, call: Call) -> Any:
        default = call.argument("default", 2)
        setting = ".".join(str(call.argument(name, position)) for position, name in enumerate(("section", "key")))
        self.note(
            call.where,
            f"the setting {setting} of Buck is taken to be its default, {default!r}; Bazel has flags and select()",
        )
        return default

    def _aten_mode_options(self, call: Call) -> tuple[bool, ...]:
        self.note(call.where, "the targets of ATen mode are left out, as by ExecuTorch's own build")
        return (False,)

    # Steps that need all targets

    def _kernels(self) -> frozenset[str]:
        """Returns the libraries with kernels or helpers of kernels: the dependencies of libraries of operators."""
        deps = {t.attributes["name"]: _local(t.attributes.get("deps")) for t in self._targets if "name" in t.attributes}
        found: set[str] = set()
        rest = [
            name
            for target in self._targets
            if target.rule == "executorch_generated_lib" and not target.attributes.get("aten_mode")
            for attribute in ("deps", "kernel_deps")
            for name in _local(target.attributes.get(attribute))
        ]
        rest += self._operators
        while rest:
            name = rest.pop()
            if name in deps and name not in found:
                found.add(name)
                rest += deps[name]
        return frozenset(found)

    def _finished(self, target: Target, kernels: frozenset[str]) -> Target:
        attributes = dict(target.attributes)
        if target.rule not in ("cc_binary", "cc_library", "cc_test"):
            return target
        includes = f"{self._module}//runtime:kernel_includes"
        of_pytorch = {f"{includes}_aten", f"{self._module}//runtime:libtorch"}
        deps = attributes.get("deps", [])
        if (
            attributes["name"] in kernels
            and target.rule == "cc_library"
            and attributes.keys() <= _KERNEL_ATTRIBUTES
            and not (isinstance(deps, list) and of_pytorch.intersection(deps))
        ):
            if isinstance(deps, list):
                attributes["deps"] = [dep for dep in deps if dep != includes]
            return Target("et_kernel_library", {name: v for name, v in attributes.items() if v != []})
        runner = f"{self._module}{labels.RUNNER}"
        if target.rule == "cc_binary" and not attributes.get("srcs") and isinstance(deps, list) and runner in deps:
            return Target("executorch_binary", attributes | {"deps": [dep for dep in deps if dep != runner]})
        if attributes.get("srcs"):
            attributes["copts"] = _joined([_CXX17], attributes.get("copts", []))
        return Target(target.rule, attributes)

    def _look_up_targets(self, targets: Sequence[Target]) -> None:
        names = {target.attributes.get("name") for target in targets}
        names |= {file for target in targets for file in target.positional or ()}
        names |= {f"{name}{end}" for name in names if isinstance(name, str) for end in ("_headers", "_static")}
        names |= {f"custom_ops_{name}" for name in names if isinstance(name, str)}
        for target in targets:
            for attribute, value in target.attributes.items():
                for name in _local(value):
                    if name not in names and not (self._file.parent / name).exists():
                        where = self._places[target.attributes["name"]]
                        self.note(where, f":{name}, in {attribute} of {target.attributes['name']}, is no target here")

    def _look_for_dtypes(self) -> None:
        for target in self._targets:
            if target.attributes.get("dtype_selective_build") and _local(target.attributes.get("kernel_deps")):
                name = target.attributes["name"]
                found = "compiles for the selected dtypes only those files of kernels that an et_kernel_library"
                self.note(self._places[name], f"{name} {found} names in `operators`; a BUCK file does not say which")


def _scalar_type(call: Call) -> Code:
    """Converts a dtype to the runtime's name, such as QUInt4x2 for ExecuTorch's QUInt4X2."""
    name = re.sub(r"(?<=\d)X(?=\d)", "x", str(call.argument("name", 0))).replace("Uint", "UInt")
    return Code(f"ScalarType.{name}", "ScalarType")


def _says_nothing(parameter: str, value: Any) -> bool:
    if parameter == "use_default_aten_ops_lib":
        return value is True
    if parameter in _MEANINGLESS:
        return True
    return any(value == nothing and type(value) is type(nothing) for nothing in _SAYS_NOTHING)


def _glob(call: Call) -> Any:
    include, exclude = call.argument("include", 0, []), call.argument("exclude", 1, [])
    patterns = [*include, *exclude] if isinstance(include, list) and isinstance(exclude, list) else [None]
    if all(isinstance(pattern, str) for pattern in patterns):
        return Glob(include, exclude)
    return Unknown("glob()", call.where)


def _define(flag: str) -> str:
    if not flag.startswith(_FLAGS_OF_DEFINES):
        raise labels.NoCounterpartError("is a flag that Bazel does not pass on to those who depend on a library")
    return flag.removeprefix(_FLAGS_OF_DEFINES)


def _local(value: Any) -> list[str]:
    """Returns the targets of the same file among the labels of a value."""
    match value:
        case str():
            return [value[1:]] if value.startswith(":") else []
        case list() | Sum():
            return [name for item in (value.parts if isinstance(value, Sum) else value) for name in _local(item)]
        case Select():
            return [name for item in value.values.values() for name in _local(item)]
        case _:
            return []


def _joined(left: Any, right: Any) -> Any:
    if isinstance(left, list) and isinstance(right, list):
        return [*left, *(item for item in right if item not in left)]
    return total(left, right) if left != [] else right


def _sum(parts: Sequence[Any]) -> Any:
    result: Any = []
    for part in parts:
        result = part if result == [] else total(result, part)
    if isinstance(result, Sum):
        merged: list[Any] = []
        for part in result.parts:
            if merged and isinstance(part, list) and isinstance(merged[-1], list):
                merged[-1] = [*merged[-1], *(item for item in part if item not in merged[-1])]
            else:
                merged.append(part)
        return merged[0] if len(merged) == 1 else Sum(tuple(merged))
    return result
