"""Writes docs/rules.md, the reference of all public symbols, from the docstrings under rules/.

tools/bazel run //tools/reference
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from absl import app

from tools.reference import textproto
from tools.reference.textproto import Message

_TYPES = {
    "BOOLEAN": "bool",
    "INT": "int",
    "LABEL": "label",
    "LABEL_LIST": "list of labels",
    "LABEL_STRING_DICT": "dict of labels to strings",
    "OUTPUT": "file name",
    "STRING": "string",
    "STRING_DICT": "dict of strings",
    "STRING_LIST": "list of strings",
    "STRING_LIST_DICT": "dict of strings to lists of strings",
}
_NO_VALUE = ("", "None", '""', "[]", "{}", "False")

# The docstring of **kwargs lists the attributes that a macro passes on to the rule of its name. The macro sets all
# other attributes of the rule, and their docs end with `_GIVEN_BY_MACRO`.
_PASSED_ON = re.compile(r"(?P<names>(?:\w+, )*\w+) and the common attributes\.")

_GIVEN_BY_MACRO = "The macro gives it."

_HEAD = """# Rules, providers and repositories

<!-- Made of the docstrings under rules/ by `tools/bazel run //tools/reference`. -->

`@rules_executorch//rules:defs.bzl` has all rules. Every rule has a `name` and Bazel's
[common attributes](https://bazel.build/reference/be/common-definitions#common-attributes) besides those listed here.
A macro gives the visibility, the tags and the constraints to all of its targets.
"""

# ExecuTorch's name for a whole rule.
_ALIAS = "exir_custom_ops_aot_lib"

_OTHER_NAMES = f"""## Other names

`defs.bzl` accepts these names of ExecuTorch's BUCK files and of earlier versions, too. `{_ALIAS}` is
ExecuTorch's name for [`executorch_custom_ops_aot_lib`](#executorch_custom_ops_aot_lib). A target that gives a parameter
by both names is an error. [The guide](moving.md) shows how to convert a BUCK file.

| rule | name | instead |
|---|---|---|
"""


class DocstringError(ValueError):
    """The docstrings contradict the code."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A public symbol: the name, and the text below the heading."""

    name: str
    text: str


def read(module: str) -> Message:
    """Returns the documentation that Bazel extracted from a module of tools/reference/BUILD.bazel."""
    return textproto.parse((Path(__file__).parent / f"{module}.textproto").read_text())


def _line(doc: str) -> str:
    return " ".join(doc.split())


def _item(name: str, kind: str, doc: str, default: str, mandatory: bool) -> str:
    notes = [kind] if kind else []
    if mandatory:
        notes.append("required")
    elif default not in _NO_VALUE and "Default: " not in doc:
        notes.append(f"default `{default}`")
    in_brackets = f" ({', '.join(notes)})" if notes else ""
    return f"- `{name}`{in_brackets}: {_line(doc)}"


def _attribute(attribute: Message) -> str:
    return _item(
        attribute.text("name"),
        _TYPES[attribute.text("type")],
        attribute.text("doc_string"),
        attribute.text("default_value"),
        attribute.text("mandatory") == "true",
    )


def _is_given_by_macro(described: Message) -> bool:
    return _line(described.text("doc_string")).endswith(_GIVEN_BY_MACRO)


def _attributes(holder: Message) -> list[str]:
    attributes = [attribute for attribute in holder.inner("attribute") if attribute.text("type") != "NAME"]
    return [_attribute(attribute) for attribute in attributes if not _is_given_by_macro(attribute)]


def _symbol(name: str, doc: str, *lists: tuple[str, Sequence[str]]) -> Symbol:
    parts = [inspect.cleandoc(doc)] if doc else []
    for title, items in lists:
        if items:
            parts.append(f"{title}:\n\n" + "\n".join(items))
    return Symbol(name, "\n\n".join(parts))


def _rule(rule: Message) -> Symbol:
    return _symbol(rule.text("rule_name"), rule.text("doc_string"), ("Attributes", _attributes(rule)))


def function(macro: Message, rule: Message | None) -> Symbol:
    """Returns a macro with its parameters, and with the attributes that the macro passes on to the rule of its name."""
    name = macro.text("function_name")
    items: list[str] = []
    own = {parameter.text("name") for parameter in macro.inner("parameter")}
    for parameter in macro.inner("parameter"):
        doc = parameter.text("doc_string")
        if parameter.text("name") == "kwargs":
            items += _passed_on(name, doc, own, rule)
        elif parameter.text("name") != "name" and not _is_given_by_macro(parameter):
            default, mandatory = parameter.text("default_value"), parameter.text("mandatory") == "true"
            items.append(_item(parameter.text("name"), "", doc, default, mandatory))
    return _symbol(name, macro.text("doc_string"), ("Parameters", items))


def _behind(macro: Message) -> Message | None:
    """Returns the rule of a macro's name; None if the macro has no **kwargs."""
    if all(parameter.text("name") != "kwargs" for parameter in macro.inner("parameter")):
        return None
    name = macro.text("function_name")
    return next(rule for rule in read(name).inner("rule_info") if rule.text("rule_name") == name)


def _passed_on(macro: str, doc: str, own: Collection[str], rule: Message | None) -> Iterator[str]:
    match = _PASSED_ON.fullmatch(_line(doc))
    if match is None or rule is None:
        raise DocstringError(f"{macro}: **kwargs is not of the form `a, b and the common attributes.`: {doc}")
    attributes = {attribute.text("name"): attribute for attribute in rule.inner("attribute")}
    names = match["names"].split(", ")
    for name, attribute in attributes.items():
        if name not in (*own, *names) and not _is_given_by_macro(attribute):
            raise DocstringError(f"{macro}: **kwargs does not name {name}, an attribute of the rule behind the macro")
    for name in names:
        if name not in attributes:
            raise DocstringError(f"{macro}: **kwargs names {name}, which is no attribute of the rule behind the macro")
        yield _attribute(attributes[name])


def _provider(provider: Message) -> Symbol:
    fields = [_item(f.text("name"), "", f.text("doc_string"), "", False) for f in provider.inner("field_info")]
    return _symbol(provider.text("provider_name"), provider.text("doc_string"), ("Fields", fields))


def _extension(extension: Message) -> Symbol:
    tags = [
        (f"Tag `{tag.text('tag_name')}`. {_line(tag.text('doc_string'))} Attributes", _attributes(tag))
        for tag in extension.inner("tag_class")
    ]
    return _symbol(extension.text("extension_name"), extension.text("doc_string"), *tags)


def _aspect(aspect: Message) -> Symbol:
    return _symbol(aspect.text("aspect_name"), aspect.text("doc_string"), ("Attributes", _attributes(aspect)))


def sections() -> dict[str, list[Symbol]]:
    """Returns the symbols of all modules, by the title of the section."""
    defs, providers, extensions, repositories, checks = map(
        read, ("defs", "providers", "extensions", "repositories", "torch_ops_check")
    )
    with_other_names = other_names()
    core = [read(f"core_{name}") for name in with_other_names if name != _ALIAS]
    rules = [_rule(rule) for module in (defs, *core) for rule in module.inner("rule_info")]
    macros = [macro for macro in defs.inner("func_info") if macro.text("function_name") not in with_other_names]
    macros += [macro for module in core for macro in module.inner("func_info")]
    rules += [function(macro, _behind(macro)) for macro in macros]
    rules.append(_symbol("ScalarType", read("scalar_type").text("module_docstring")))
    return {
        "Rules": sorted(rules, key=lambda symbol: symbol.name.lower()),
        "An aspect of torch_ops_check.bzl": [_aspect(aspect) for aspect in checks.inner("aspect_info")],
        "Providers of providers.bzl": [_provider(provider) for provider in providers.inner("provider_info")],
        "The module extension of extensions.bzl": [
            _extension(extension) for extension in extensions.inner("module_extension_info")
        ],
        "For WORKSPACE: repositories.bzl": [function(macro, None) for macro in repositories.inner("func_info")],
    }


def other_names() -> dict[str, list[tuple[str, str]]]:
    """Returns for each macro of compatibility.bzl the parameters with other names, each with what to write instead."""
    return {
        macro.text("function_name"): [
            (parameter.text("name"), _line(parameter.text("doc_string")))
            for parameter in macro.inner("parameter")
            if parameter.text("name") not in ("name", "kwargs")
        ]
        for macro in read("compatibility").inner("func_info")
    }


def document() -> str:
    """Returns the text of docs/rules.md."""
    parts = [_HEAD]
    for title, symbols in sections().items():
        parts.append(f"## {title}\n")
        parts += [f"### {symbol.name}\n\n{symbol.text}\n" for symbol in symbols]
        if title == "Rules":
            parts.append(_OTHER_NAMES)
            rows = [(macro, *names) for macro, parameters in other_names().items() for names in parameters]
            parts[-1] += "".join(f"| `{macro}` | `{old}` | {new} |\n" for macro, old, new in rows)
    return "\n".join(parts)


def main(argv: Sequence[str]) -> None:
    del argv
    (Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]) / "docs" / "rules.md").write_text(document())


if __name__ == "__main__":
    app.run(main)
