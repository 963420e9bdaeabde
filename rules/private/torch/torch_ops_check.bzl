"""Rule torch_ops_check, and the same check for rules that load operator libraries."""

load("//rules/private/actions:codegen.bzl", "CODEGEN_EXEC_GROUPS", "codegen_args", "run_codegen")
load("//rules/private/actions:label_text.bzl", "label_text")
load("//rules/private/providers:torch_op_info.bzl", "TorchOpInfo")

visibility(["//rules/..."])

_EDGES = ["deps", "data", "implementation_deps", "actual", "exports"]

# The tag of targets that torch_ops_check_aspect does not check.
_UNCHECKED = "no-torch-ops-check"

_MNEMONIC = "EtTorchCheck"

_LoadedInfo = provider(
    doc = "The operator libraries that a target and its dependencies load.",
    fields = {
        "manifests": "depset[File]: of each library.",
        "operators": "depset[File]: the operators of each library that was loaded in the build.",
    },
)

def _torch_ops_aspect_impl(target, ctx):
    edges = []
    for edge in _EDGES:
        value = getattr(ctx.rule.attr, edge, None)
        edges += [dep for dep in (value if type(value) == "list" else [value]) if type(dep) == "Target"]
    inner = [dep[_LoadedInfo] for dep in edges if _LoadedInfo in dep]
    inner += [target[TorchOpInfo]] if TorchOpInfo in target else []
    return [_LoadedInfo(
        manifests = depset(transitive = [info.manifests for info in inner]),
        operators = depset(transitive = [info.operators for info in inner]),
    )]

torch_ops_aspect = aspect(
    doc = "Collects the operator libraries in the dependencies of Python and C++ targets.",
    implementation = _torch_ops_aspect_impl,
    attr_aspects = _EDGES,
    provides = [_LoadedInfo],
)

def check_torch_ops(ctx, deps, own = None, package = None, needed = None):
    """Checks that no two libraries define the same, and that a library defines each operator that a package calls.

    Args:
      ctx: the context of a rule with CODEGEN_EXEC_GROUPS.
      deps: list[Target], the loaded targets, with `torch_ops_aspect`.
      own: struct(manifests: list[File], operators: list[File]), the files of the target itself.
      package: Label of a package of AOTInductor, or None; `deps` have TorchOpInfo then.
      needed: File, the operators that the package calls.
    Returns:
      File: the report.
    """
    loaded = [dep[_LoadedInfo] for dep in deps if _LoadedInfo in dep]
    return _check(
        ctx,
        depset(own.manifests if own else [], transitive = [info.manifests for info in loaded]),
        depset(own.operators if own else [], transitive = [info.operators for info in loaded]),
        ctx.label.name + ".namespaces.txt",
        deps,
        package,
        needed,
    )

def _check(ctx, manifests, operators, name, deps = [], package = None, needed = None):
    report = ctx.actions.declare_file(name)
    args = codegen_args(ctx, "torch_check")
    args.add(label_text(ctx.label), format = "--label=%s")
    args.add_all(manifests, format_each = "--manifest=%s")
    args.add_all(operators, format_each = "--operators=%s")
    args.add(report, format = "--output=%s")
    inputs = [manifests, operators]

    # A library for another platform than Python's was not loaded, so its operators are unknown.
    if package and all([dep[TorchOpInfo].operators for dep in deps]):
        args.add(label_text(package), format = "--package=%s")
        args.add(needed, format = "--needed=%s")
        inputs.append(depset([needed]))
    run_codegen(
        ctx,
        args,
        inputs = depset(transitive = inputs),
        outputs = [report],
        mnemonic = _MNEMONIC,
        progress_message = "Checking namespaces of %{label}",
    )
    return report

def _torch_ops_check_aspect_impl(target, ctx):
    loaded = target[_LoadedInfo]
    manifests = loaded.manifests
    if not manifests or _UNCHECKED in ctx.rule.attr.tags or len(manifests.to_list()) < 2:
        return []
    if [action for action in target.actions if action.mnemonic == _MNEMONIC]:
        return []  # The rule checks itself.
    report = _check(ctx, manifests, loaded.operators, ctx.label.name + ".loaded_namespaces.txt")
    return [OutputGroupInfo(_validation = depset([report]))]

torch_ops_check_aspect = aspect(
    doc = """The check of `torch_ops_check` for each built target, such as a `py_binary` or `py_test`. In a .bazelrc:

    build --aspects=@rules_executorch//rules:torch_ops_check.bzl%torch_ops_check_aspect

A target with the tag `no-torch-ops-check` is not checked.""",
    implementation = _torch_ops_check_aspect_impl,
    requires = [torch_ops_aspect],
    exec_groups = CODEGEN_EXEC_GROUPS,
)

def _torch_ops_check_impl(ctx):
    report = check_torch_ops(ctx, ctx.attr.deps)
    return [
        DefaultInfo(files = depset([report])),
        OutputGroupInfo(_validation = depset([report])),
    ]

torch_ops_check = rule(
    doc = """Fails to build if two operator libraries in the transitive `deps` define the same namespace of PyTorch, or if one library
derives an operator from an out variant that another library defines.

Use this rule for the dependencies of your own `py_binary` or `py_test`. Each `torch_op_library` checks the libraries in its
dependencies itself. The output is a report of the namespaces and of the libraries that register in them.""",
    implementation = _torch_ops_check_impl,
    attrs = {
        "deps": attr.label_list(
            doc = "The targets that one process loads: Python targets, C++ libraries, operator libraries.",
            mandatory = True,
            allow_empty = False,
            aspects = [torch_ops_aspect],
        ),
    },
    exec_groups = CODEGEN_EXEC_GROUPS,
)
