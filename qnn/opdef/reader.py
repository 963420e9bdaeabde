"""Reads the XML of an op package. Mistakes give findings with the place and the cause."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from diagnostics.errors import Finding, InputError, Location
from diagnostics.suggest import did_you_mean, nearest
from qnn.opdef import xml_tree
from qnn.opdef.model import (
    BACKEND_SPECIFIC,
    BACKENDS,
    CONSTRAINT_TYPES,
    DATATYPES,
    LAYOUTS,
    RANKS,
    Constraint,
    OpDef,
    Package,
    Reference,
    Role,
    Shape,
    Supplement,
    SupplementalOpDef,
    SupplementalTensor,
    Tensor,
    Value,
)
from qnn.opdef.xml_tree import Element

# Names of packages and ops become C++ names.
_CPP_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)
# Names of tensors and parameters become C++ strings. Qualcomm's examples also have names like in[0].
_TENSOR_NAME = re.compile(r"[A-Za-z_][\w.\[\]-]*", re.ASCII)
_MAX_NAME = 200
# The limit of digits keeps int() fast. No datatype has more digits.
_INT = re.compile(r"[+-]?\d{1,40}", re.ASCII)
_FLOAT = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?", re.ASCII)
_MAX_NESTING = 8
# Attributes that an editor adds to the root to find the schema.
_EDITORS_OWN = ("xmlns", "xsi:")
_TRUE = {"true": True, "1": True, "false": False, "0": False}


class _Count(NamedTuple):
    least: int
    most: int | None


_ONE, _OPTIONAL, _ANY, _SOME = _Count(1, 1), _Count(0, 1), _Count(0, None), _Count(1, None)

_TENSOR_CHILDREN = {
    "Name": _ONE,
    "Description": _OPTIONAL,
    "Constraint": _ANY,
    "Mandatory": _ONE,
    "Datatype": _SOME,
    "Shape": _ONE,
}
_OWN_CHILDREN = {
    Role.INPUT: {"Default": _OPTIONAL, "Repeated": _OPTIONAL, "IsStaticTensor": _OPTIONAL},
    Role.OUTPUT: {"Repeated": _OPTIONAL},
    Role.PARAMETER: {"Default": _OPTIONAL, "Enumeration": _OPTIONAL},
}
_ROLES = {"Input": Role.INPUT, "Output": Role.OUTPUT, "Parameter": Role.PARAMETER}


def read(paths: Sequence[str]) -> tuple[Package, tuple[Finding, ...]]:
    """Returns the op package that XML files define together, and warnings.

    Raises:
        InputError: the files have mistakes. The error has all findings.
    """
    reader = _Reader()
    packages = [reader.package(xml_tree.read(path)) for path in paths]
    package = reader.merged(packages)
    errors = [finding for finding in reader.findings if finding.severity == "error"]
    if errors:
        raise InputError(errors)
    return package, tuple(reader.findings)


class _Reader:
    """Reads elements, and collects findings."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []

    # Findings

    def _wrong(self, at: Location, found: str, cause: str, fix: str) -> None:
        self.findings.append(Finding(at, found, cause, fix, id="bad-op-def"))

    def _odd(self, at: Location, found: str, cause: str, fix: str) -> None:
        self.findings.append(Finding(at, found, cause, fix, id="odd-op-def", severity="warning"))

    # The parts of any element

    def _children(
        self,
        element: Element,
        expected: dict[str, _Count],
        attributes: Collection[str] = (),
        *,
        is_ordered: bool = True,
    ) -> dict[str, list[Element]]:
        """Returns the children by name. An unknown or a missing child gives a finding.

        If `is_ordered`, a child that is not in the order of `expected` also gives a finding.
        """
        self._no_text(element)
        self._attributes(element, attributes)
        children: dict[str, list[Element]] = {name: [] for name in expected}
        order = list(expected)
        last = 0
        for child in element.children:
            if child.name in children:
                children[child.name].append(child)
                place = order.index(child.name)
                if is_ordered and place < last:
                    self._wrong(
                        child.at,
                        f"expected <{child.name}> before <{order[last]}>",
                        f"the schema has a fixed order of the elements of <{element.name}>",
                        f"use the order {_listed(expected)}",
                    )
                last = max(last, place)
                continue
            near = did_you_mean(nearest(child.name, expected))
            self._wrong(
                child.at,
                f"<{element.name}> cannot have <{child.name}>{near}",
                "a typo, or an element in the wrong place",
                f"use {_listed(expected)} here",
            )
        for name, count in expected.items():
            found = children[name]
            if len(found) < count.least:
                self._wrong(
                    element.at,
                    f"expected <{name}> in <{element.name}>; found none",
                    "the element was left out, and the schema requires the element",
                    f"add <{name}>",
                )
            if count.most is not None and len(found) > count.most:
                self._wrong(
                    found[count.most].at,
                    f"expected <{name}> once in <{element.name}>; found <{name}> {len(found)} times",
                    "an element was copied, and the copy was left",
                    f"keep one <{name}>",
                )
        return children

    def _attributes(self, element: Element, expected: Collection[str]) -> None:
        for name in element.attributes:
            if name not in expected and not name.startswith(_EDITORS_OWN):
                near = did_you_mean(nearest(name, expected))
                self._wrong(
                    element.at,
                    f"<{element.name}> cannot have the attribute {name}{near}",
                    "a typo, or the attribute belongs to another element",
                    f"use {', '.join(expected)}" if expected else "leave the attribute out",
                )

    def _attribute(self, element: Element, name: str) -> str:
        value = element.attributes.get(name, "").strip()
        if not value:
            self._wrong(
                element.at,
                f"expected a value of the attribute {name} of <{element.name}>; found none",
                "the attribute was left out, and the schema requires the attribute",
                f'write <{element.name} {name}="...">',
            )
        return value

    def _no_text(self, element: Element) -> None:
        if text := element.text.strip():
            self._wrong(
                element.at,
                f"expected only elements in <{element.name}>; found the text '{text}'",
                "a tag is missing, or a comment is not between <!-- and -->",
                "put the text into an element or a comment",
            )

    def _text(self, element: Element) -> str:
        """Returns the text of an element without attributes and children, in one line."""
        self._attributes(element, ())
        return self._only_text(element)

    def _only_text(self, element: Element) -> str:
        for child in element.children:
            self._wrong(
                child.at,
                f"expected only text in <{element.name}>; found <{child.name}>",
                f"<{element.name}> is not closed",
                f"close <{element.name}> before <{child.name}>",
            )
        return " ".join(element.text.split())

    def _optional_text(self, found: list[Element]) -> str:
        return self._text(found[0]) if found else ""

    def _name(self, found: list[Element], what: str, form: re.Pattern[str] = _CPP_NAME) -> str:
        if not found:
            return ""
        name = self._text(found[0])
        self._check_name(found[0].at, name, what, form)
        return name

    def _check_name(self, at: Location, name: str, what: str, form: re.Pattern[str] = _CPP_NAME) -> None:
        if len(name) > _MAX_NAME or not form.fullmatch(name):
            self._wrong(
                at,
                f"'{name}' is not a valid name of {what}",
                "the name has a character that names in the generated C++ cannot have",
                "use a letter, then letters, digits and underscores",
            )

    def _boolean(self, found: list[Element], default: bool = False) -> bool:
        if not found:
            return default
        text = self._text(found[0])
        if text not in _TRUE:
            self._wrong(
                found[0].at,
                f"expected true or false in <{found[0].name}>; found '{text}'",
                "a boolean of XML has small letters",
                f"write <{found[0].name}>true</{found[0].name}> or false",
            )
        return _TRUE.get(text, default)

    def _known(self, element: Element, what: str, known: Collection[str], text: str) -> str:
        """Checks a value of an enumeration. Unknown values give a warning, since newer SDKs may add values."""
        if not text:
            self._wrong(element.at, f"<{element.name}> is empty", f"the {what} was left out", f"write the {what}")
        elif text not in known:
            near = did_you_mean(nearest(text, known))
            self._odd(
                element.at,
                f"unknown {what} '{text}'{near}",
                "a typo, or a value of a newer SDK",
                f"use one of {', '.join(sorted(known))}, unless your SDK has the {what}",
            )
        return text

    # The package

    def package(self, root: Element) -> Package:
        """Reads the package of one file."""
        if root.name != "OpDefCollection":
            self._wrong(
                root.at,
                f"expected the root <OpDefCollection>; found <{root.name}>",
                "another XML file was given",
                "give the file of an op package, whose root is <OpDefCollection>",
            )
            raise InputError(self.findings)
        children = self._children(
            root,
            {"OpDefList": _ONE, "SupplementalOpDefList": _ANY},
            ("PackageName", "Domain", "Version"),
        )
        name = self._attribute(root, "PackageName")
        if name:
            self._check_name(root.at, name, "a package")
        op_defs: list[OpDef] = []
        for op_def_list in children["OpDefList"][:1]:
            op_defs += [self._op_def(each) for each in self._children(op_def_list, {"OpDef": _SOME})["OpDef"]]
        return Package(
            name=name,
            domain=self._attribute(root, "Domain"),
            version=self._attribute(root, "Version"),
            op_defs=tuple(op_defs),
            supplements=tuple(self._supplement(each) for each in children["SupplementalOpDefList"]),
            at=root.at,
        )

    def merged(self, packages: Sequence[Package]) -> Package:
        """Merges the packages of several files. Checks references from one file to ops of another file."""
        first, *others = packages
        for other in others:
            for what in ("name", "domain", "version"):
                if getattr(other, what) != getattr(first, what):
                    self._wrong(
                        other.at,
                        f"expected the {what} '{getattr(first, what)}' of the package, as in {first.at}; found "
                        f"'{getattr(other, what)}'",
                        "the files define several packages, or one of the files was not updated",
                        f"use the same {what} in all files, or write a qnn_op_package for each file",
                    )
        op_defs = [op_def for package in packages for op_def in package.op_defs]
        self._no_duplicates("op", [(op_def.name, op_def.at) for op_def in op_defs])
        supplements = [supplement for package in packages for supplement in package.supplements]
        self._no_duplicates("backend's list", [(each.backend, each.at) for each in supplements])
        merged = Package(
            name=first.name,
            domain=first.domain,
            version=first.version,
            op_defs=tuple(op_defs),
            supplements=tuple(supplements),
            at=first.at,
        )
        for supplement in supplements:
            self._check_supplement(merged, supplement)
        for op_def in op_defs:
            self._check_backends(merged, op_def)
        return merged

    def _no_duplicates(self, what: str, names: Sequence[tuple[str, Location]]) -> None:
        first: dict[str, Location] = {}
        for name, at in names:
            if name and name in first:
                self._wrong(
                    at,
                    f"the {what} '{name}' is defined in {first[name]}, too",
                    f"the {what} was copied without a new name",
                    "rename one of the two, or delete one",
                )
            first.setdefault(name, at)

    def _check_supplement(self, package: Package, supplement: Supplement) -> None:
        names = [op_def.name for op_def in package.op_defs]
        for name, at in [
            *((name, supplement.at) for name in supplement.supported_ops),
            *((op_def.name, op_def.at) for op_def in supplement.op_defs),
        ]:
            if name and name not in names:
                self._wrong(
                    at,
                    f"the package has no op '{name}'{did_you_mean(nearest(name, names))}",
                    "a typo, or the op's own file is not in `config`",
                    "name an <OpDef> of the package",
                )
        for supplemental in supplement.op_defs:
            op_def = package.op_def(supplemental.name)
            if op_def is None:
                continue
            for tensor in supplemental.tensors:
                known = [each.name for role, each in op_def.tensors if role is tensor.role]
                if tensor.name and tensor.name not in known:
                    self._wrong(
                        tensor.at,
                        f"{op_def.name} has no {tensor.role.value} '{tensor.name}'"
                        f"{did_you_mean(nearest(tensor.name, known))}",
                        "a typo, or the tensor was renamed in the <OpDef> alone",
                        f"use one of {', '.join(known)}" if known else f"delete '{tensor.name}'",
                    )

    def _check_backends(self, package: Package, op_def: OpDef) -> None:
        backends = package.backends(op_def)
        if not backends:
            self._wrong(
                op_def.at,
                f"no backend supports {op_def.name}",
                "the op has no <SupportedBackend>, and no <SupplementalOpDefList> names the op",
                "add <SupportedBackend>HTP</SupportedBackend>",
            )
        for role, tensor in op_def.tensors:
            for backend in backends:
                if BACKEND_SPECIFIC in package.datatypes(op_def, role, tensor, backend):
                    self._wrong(
                        tensor.at,
                        f"expected datatypes of {backend} for the {role.value} '{tensor.name}' of {op_def.name}, "
                        "since its datatype is BACKEND_SPECIFIC; found none",
                        f'the <SupplementalOpDefList Backend="{backend}"> has no <Datatype> for the {role.value}',
                        f"add a <SupplementalOpDef> with the datatypes for {backend}",
                    )

    # Ops

    def _op_def(self, element: Element) -> OpDef:
        children = self._children(
            element,
            {
                "Name": _ONE,
                "Description": _OPTIONAL,
                "Reference": _ANY,
                "Input": _SOME,
                "Output": _SOME,
                "Parameter": _ANY,
                "UseDefaultTranslation": _OPTIONAL,
                "SupportedBackend": _ANY,
            },
        )
        tensors = {role: tuple(self._tensor(each, role) for each in children[name]) for name, role in _ROLES.items()}
        all_names = [(tensor.name, tensor.at) for found in tensors.values() for tensor in found]
        self._no_duplicates("tensor", all_names)
        for tensor in tensors[Role.INPUT][:-1]:
            if tensor.repeated:
                self._odd(
                    tensor.at,
                    f"the repeated input '{tensor.name}' stands before other inputs",
                    "the inputs are not in their final order. A kernel cannot tell where repeated inputs end",
                    "make the repeated input the last one",
                )
        return OpDef(
            name=self._name(children["Name"], "an op"),
            inputs=tensors[Role.INPUT],
            outputs=tensors[Role.OUTPUT],
            parameters=tensors[Role.PARAMETER],
            backends=tuple(
                self._known(each, "backend", BACKENDS, self._text(each)) for each in children["SupportedBackend"]
            ),
            description=self._description(children["Description"]),
            references=tuple(self._reference(each) for each in children["Reference"]),
            replaces_native=self._boolean(children["UseDefaultTranslation"]),
            at=element.at,
        )

    def _description(self, found: list[Element]) -> str:
        if not found:
            return ""
        if not found[0].children:  # Some files have the text without <Content>.
            return self._text(found[0])
        self._children(found[0], {"Content": _ANY, "Code": _ANY}, is_ordered=False)
        return " ".join(self._text(child) for child in found[0].children if child.name in ("Content", "Code"))

    def _reference(self, element: Element) -> Reference:
        self._children(element, {}, ("Source", "Url"))
        return Reference(self._attribute(element, "Source"), self._attribute(element, "Url"))

    def _tensor(self, element: Element, role: Role) -> Tensor:
        children: dict[str, list[Element]] = {name: [] for own in _OWN_CHILDREN.values() for name in own}
        children |= self._children(element, _TENSOR_CHILDREN | _OWN_CHILDREN[role])
        name = self._name(children["Name"], "a tensor", _TENSOR_NAME)
        mandatory = self._boolean(children["Mandatory"], default=True)
        datatypes = [self._known(each, "datatype", DATATYPES, self._text(each)) for each in children["Datatype"]]
        self._no_duplicates("datatype", list(zip(datatypes, (each.at for each in children["Datatype"]), strict=True)))
        enumeration: tuple[str, ...] = ()
        for found in children["Enumeration"][:1]:
            values = self._children(found, {"Enum": _SOME})["Enum"]
            enumeration = tuple(self._text(each) for each in values)
            self._no_duplicates("value", list(zip(enumeration, (each.at for each in values), strict=True)))
        default = self._default(children["Default"], datatypes, enumeration)
        if default is not None and mandatory:
            self._odd(
                children["Default"][0].at,
                f"the default of the mandatory tensor '{name}' has no effect",
                "the tensor was optional before. Each node gives a mandatory tensor",
                "write <Mandatory>false</Mandatory>, or delete <Default>",
            )
        return Tensor(
            name=name,
            mandatory=mandatory,
            datatypes=tuple(datatypes),
            shape=self._shape(children["Shape"]),
            description=self._description(children["Description"]),
            constraints=tuple(self._constraint(each) for each in children["Constraint"]),
            default=default,
            repeated=self._boolean(children["Repeated"]),
            is_static=self._boolean(children["IsStaticTensor"]),
            enumeration=enumeration,
            at=element.at,
        )

    def _constraint(self, element: Element) -> Constraint:
        self._attributes(element, ("id", "type", "Id", "Type"))
        given = {name.lower(): value.strip() for name, value in element.attributes.items()}
        for name in ("id", "type"):
            if not given.get(name):
                self._attribute(element, name)
        type_ = given.get("type", "")
        if type_:
            self._known(element, "type of a constraint", CONSTRAINT_TYPES, type_)
        return Constraint(given.get("id", ""), type_, self._only_text(element))

    def _shape(self, found: list[Element]) -> Shape:
        if not found:
            return Shape("ND")
        children = self._children(found[0], {"Rank": _ONE, "Layout": _OPTIONAL, "Text": _OPTIONAL})
        rank = "ND"
        for each in children["Rank"][:1]:
            rank = self._known(each, "rank", RANKS, _rank(self._text(each)))
        return Shape(rank, self._layout(children["Layout"]), self._optional_text(children["Text"]))

    def _layout(self, found: list[Element]) -> str:
        return self._known(found[0], "layout", LAYOUTS, self._text(found[0])) if found else ""

    def _default(self, found: list[Element], datatypes: Sequence[str], enumeration: Sequence[str]) -> Value | None:
        if not found:
            return None
        text = self._text(found[0])
        try:
            value = _value(text)
        except ValueError as error:
            self._wrong(
                found[0].at,
                f"the default '{text}' cannot be read: {error}",
                "a bracket or a comma is missing",
                "write a number, a text, 0 or 1 for a boolean, or a tensor in brackets such as [1, 2]",
            )
            return None
        if enumeration and value in enumeration:
            return enumeration.index(str(value))
        if enumeration and (not isinstance(value, int) or not 0 <= value < len(enumeration)):
            self._wrong(
                found[0].at,
                f"expected a value of <Enumeration> as default, or an index from 0 to {len(enumeration) - 1}; found "
                f"'{text}'",
                "the index was counted from 1, or a value was removed from <Enumeration>",
                f"give a value of <Enumeration>, or an index from 0 to {len(enumeration) - 1}",
            )
        known = [datatype for datatype in datatypes if datatype in DATATYPES]
        if known and not any(_fits(value, datatype) for datatype in known):
            self._wrong(
                found[0].at,
                f"the default '{text}' fits none of the datatypes {', '.join(known)}",
                "the default or the datatype was copied from another tensor",
                "make the default a value of one of the datatypes",
            )
        return value

    # Supplements of a backend

    def _supplement(self, element: Element) -> Supplement:
        children = self._children(element, {"SupportedOps": _OPTIONAL, "SupplementalOpDef": _ANY}, ("Backend",))
        backend = self._attribute(element, "Backend")
        if backend:
            self._known(element, "backend", BACKENDS, backend)
        supported: list[str] = []
        for found in children["SupportedOps"][:1]:
            supported += [self._text(each) for each in self._children(found, {"OpName": _ANY})["OpName"]]
        op_defs = tuple(self._supplemental_op_def(each) for each in children["SupplementalOpDef"])
        self._no_duplicates("supplement of", [(op_def.name, op_def.at) for op_def in op_defs])
        return Supplement(backend=backend, supported_ops=tuple(supported), op_defs=op_defs, at=element.at)

    def _supplemental_op_def(self, element: Element) -> SupplementalOpDef:
        children = self._children(element, {"Name": _ONE} | dict.fromkeys(_ROLES, _ANY))
        return SupplementalOpDef(
            name=self._name(children["Name"], "an op"),
            tensors=tuple(
                self._supplemental_tensor(each, role) for name, role in _ROLES.items() for each in children[name]
            ),
            at=element.at,
        )

    def _supplemental_tensor(self, element: Element, role: Role) -> SupplementalTensor:
        children = self._children(
            element,
            {
                "Name": _ONE,
                "Constraint": _ANY,
                "Datatype": _ANY,
                "Shape": _OPTIONAL,
                "OnlyDefaultSupported": _OPTIONAL,
            },
        )
        layout = text = ""
        for found in children["Shape"][:1]:
            parts = self._children(found, {"Layout": _OPTIONAL, "Text": _OPTIONAL})
            layout, text = self._layout(parts["Layout"]), self._optional_text(parts["Text"])
        return SupplementalTensor(
            name=self._name(children["Name"], "a tensor", _TENSOR_NAME),
            role=role,
            constraints=tuple(self._constraint(each) for each in children["Constraint"]),
            datatypes=tuple(
                self._known(each, "datatype", DATATYPES, self._text(each)) for each in children["Datatype"]
            ),
            layout=layout,
            shape_text=text,
            only_default=self._boolean(children["OnlyDefaultSupported"]),
            at=element.at,
        )


def _listed(names: Collection[str]) -> str:
    return ", ".join(f"<{name}>" for name in names) or "no element"


def _rank(text: str) -> str:
    """Returns a rank in the form of RANKS, since Qualcomm's own examples also have 0 and 1."""
    if text == "0":
        return "SCALAR"
    return f"{text}D" if text.isdigit() else text


def _value(text: str) -> Value:
    """Parses the value of a default.

    Raises:
        ValueError: brackets do not match, or a list has texts and numbers.
    """
    if not text:
        raise ValueError("the text is empty")
    if text.startswith("["):
        try:
            value = json.loads(text, parse_constant=_no_number)
        except RecursionError as error:
            raise ValueError("the brackets are nested too deep") from error
        return _tuple(value)
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    return text


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is not a number")


def _tuple(value: object, depth: int = 0) -> Value:
    if isinstance(value, list):
        if depth == _MAX_NESTING:
            raise ValueError("the brackets are nested too deep")
        return tuple(_tuple(item, depth + 1) for item in value)
    if isinstance(value, int | float):
        return value
    raise ValueError(f"{json.dumps(value)} is not a number")


_INTEGER = re.compile(r"QNN_DATATYPE_(U?)INT_(\d+)")


def _fits(value: Value, datatype: str) -> bool:
    """Returns whether a value fits a datatype."""
    if isinstance(value, tuple):
        return all(_fits(item, datatype) for item in value)
    if isinstance(value, str):
        return datatype in ("QNN_DATATYPE_STRING", BACKEND_SPECIFIC)
    if datatype == "QNN_DATATYPE_BOOL_8":
        return value in (0, 1)
    if match := _INTEGER.fullmatch(datatype):
        values = 1 << int(match[2])
        least = 0 if match[1] else -values // 2
        return isinstance(value, int) and least <= value < least + values
    return datatype != "QNN_DATATYPE_STRING"
