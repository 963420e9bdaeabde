"""The registration of an op package with ExecuTorch's Qualcomm backend, as JSON and as a Python module."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from string import Template

from codegen.model.schema import OperatorName, parse_operator_name
from diagnostics.errors import InputError
from qnn.opdef.model import Package


@dataclass(frozen=True, slots=True)
class Library:
    """A library of a package with its registration in ExecuTorch.

    Attributes:
        target: the name in QnnExecuTorchOpPackageTarget: the part of the backend that loads the library.
        platform: the name in QnnExecuTorchOpPackagePlatform: the platform of the process that loads the library.
        file: the name of the file.
    """

    target: str
    platform: str
    file: str


@dataclass(frozen=True, slots=True)
class Op:
    """An op and the operator of PyTorch that the op computes. The operator has its name in a graph."""

    type: str
    operator: str


@dataclass(frozen=True, slots=True)
class Registration:
    """The registration of a package with ExecuTorch."""

    package: str
    interface_provider: str
    ops: tuple[Op, ...]
    libraries: tuple[Library, ...]
    device_dir: str


def libraries(package: str, backend: str) -> tuple[Library, ...]:
    """Returns the libraries of a package for a backend.

    ExecuTorch registers a path once, for any target, so the two files of a device have different names. The target CPU
    is the part of the HTP backend that prepares graphs, on the processor of a build machine or a phone. A package for
    the CPU backend has only these libraries.
    """
    processors = tuple(Library("CPU", platform, f"libQnn{package}.so") for platform in ("X86_64", "AARCH64_ANDROID"))
    dsp = Library("HTP", "AARCH64_ANDROID", f"libQnn{package}_HTP.so")
    return processors if backend == "CPU" else (*processors, dsp)


def operator_name(text: str, label: str) -> OperatorName:
    """Parses an operator's name in the attribute torch_ops.

    Raises:
        InputError: the text is not an operator's full name.
    """
    name = parse_operator_name(text) if "::" in text else None
    if name is None:
        raise InputError.of(
            label,
            f"attribute torch_ops: expected full names of operators; got '{text}'",
            "the namespace is missing, or the name is written as in Python",
            'give namespace::name, or namespace::name.overload, e.g. "my_ops::mul3"',
            id="bad-operator-name",
        )
    return name


def make(package: Package, backend: str, torch_ops: Mapping[str, str], device_dir: str, label: str) -> Registration:
    """Makes the registration of a package.

    Args:
        package: the package.
        backend: the backend of the package.
        torch_ops: for each op, the operator that the op computes.
        device_dir: the folder on the device for the libraries.
        label: the label of the qnn_op_package.

    Raises:
        InputError: a text is not an operator's name, or two ops compute the same operator.
    """
    ops: dict[str, Op] = {}
    for type_, text in torch_ops.items():
        name = operator_name(text, label)
        operator = f"{name.namespace}.{name.name}.{name.overload or 'default'}"
        if operator in ops:
            raise InputError.of(
                label,
                f"attribute torch_ops has {text} for {ops[operator].type} and for {type_}",
                "an entry was copied without a new operator. ExecuTorch would always choose the first op",
                "name another operator for one of the two ops",
                id="op-of-two-ops",
            )
        ops[operator] = Op(type_, operator)
    return Registration(
        package.name,
        f"{package.name}InterfaceProvider",
        tuple(ops.values()),
        libraries(package.name, backend),
        device_dir.rstrip("/") or "/",
    )


def to_json(registration: Registration) -> str:
    """Returns the registration as JSON."""
    return json.dumps(asdict(registration), indent=2) + "\n"


def module(registration: Registration, label: str) -> str:
    """Returns a Python module whose op_package_options() returns the registration in ExecuTorch's own classes."""
    return Template(Path(__file__).with_name("registration.py.template").read_text()).substitute(
        label=label,
        package=registration.package,
        provider=repr(registration.interface_provider),
        package_name=repr(registration.package),
        device_dir=json.dumps(registration.device_dir),
        ops=_dict({op.operator: op.type for op in registration.ops}),
        libraries=_tuple([f'("{each.target}", "{each.platform}", "{each.file}")' for each in registration.libraries]),
    )


def _dict(items: Mapping[str, str]) -> str:
    return "{\n" + "".join(f'    "{key}": "{value}",\n' for key, value in items.items()) + "}"


def _tuple(items: Sequence[str]) -> str:
    return "(\n" + "".join(f"    {item},\n" for item in items) + ")"
