"""Rule torch_op_test."""

load("@rules_python//python:py_info.bzl", "PyInfo")
load("//rules/private/actions:codegen.bzl", "CODEGEN_EXEC_GROUPS")
load("//rules/private/actions:implicit_attributes.bzl", "tool_dependency")
load("//rules/private/actions:tool_launcher.bzl", "tool_launcher")
load(":torch_ops_check.bzl", "check_torch_ops", "torch_ops_aspect")

visibility(["//rules/..."])

BAD_OPERATOR_ERR = """{label}: attribute op: expected the full name of an operator; got "{op}".

Likely cause: the namespace is missing, or the name is written as in Python.
Fix: give namespace::name, or namespace::name.overload, e.g. op = "my_ops::mul3".
See: docs/errors.md#bad-operator-name"""

_CHECKS = ["gradcheck", "vmap", "compile", "export"]

def _import_paths(ctx):
    """Returns the import paths of dependencies in the runfiles: repository roots, then their `imports`."""
    paths = {".": None}
    if ctx.label.repo_name:
        paths["../" + ctx.label.repo_name] = None
    for path in depset(transitive = [dep[PyInfo].imports for dep in ctx.attr.deps]).to_list():
        paths["../" + path] = None
    return paths.keys()

def _check_operator(ctx):
    namespace, separator, name = ctx.attr.op.partition("::")
    for part in [namespace] + name.split("."):
        if not separator or not part.replace("_", "a").isalnum():
            fail(BAD_OPERATOR_ERR.format(label = ctx.label, op = ctx.attr.op))

def _torch_op_test_impl(ctx):
    _check_operator(ctx)
    arguments = [
        "--op=" + ctx.attr.op,
        "--samples=" + ctx.file.samples.short_path,
        "--entry_point=" + ctx.attr.entry_point,
        "--backend=" + ctx.attr.backend,
    ]
    arguments += ["--" + check for check in _CHECKS if getattr(ctx.attr, check)]
    arguments += ["--import_path=" + path for path in _import_paths(ctx)]
    launcher = tool_launcher(ctx, arguments)

    # A py_library has its sources in its runfiles before rules_python 0.37 only.
    runfiles = ctx.runfiles(
        ctx.files.samples + ctx.files.data,
        transitive_files = depset(transitive = [dep[PyInfo].transitive_sources for dep in ctx.attr.deps]),
    ).merge_all([
        target[DefaultInfo].default_runfiles
        for target in ctx.attr.deps + ctx.attr.data + [ctx.attr._tool]
    ])
    return [
        DefaultInfo(executable = launcher, files = depset([launcher]), runfiles = runfiles),
        OutputGroupInfo(_validation = depset([check_torch_ops(ctx, ctx.attr.deps + ctx.attr.data)])),
    ]

torch_op_test = rule(
    doc = "Tests a PyTorch operator on sample inputs.",
    implementation = _torch_op_test_impl,
    attrs = {
        "backend": attr.string(
            doc = "The backend of `torch.compile`. `aot_eager` needs no C++ compiler when the test runs. Default: aot_eager.",
            default = "aot_eager",
        ),
        "compile": attr.bool(doc = "Check `torch.compile(fullgraph = True)`, results and gradients, against eager."),
        "data": attr.label_list(
            doc = "Files that the operator or the samples read.",
            allow_files = True,
            aspects = [torch_ops_aspect],
        ),
        "deps": attr.label_list(
            doc = "Python libraries that the sample file imports, besides torch. One of them registers the operator: a library in " +
                  "Python, or the `<name>_py` of a `torch_op_library`.",
            aspects = [torch_ops_aspect],
            providers = [PyInfo],
        ),
        "entry_point": attr.string(
            doc = "Function in the sample file that returns the samples. Default: get_samples.",
            default = "get_samples",
        ),
        "export": attr.bool(doc = "Check `torch.export` against eager."),
        "gradcheck": attr.bool(doc = "Check the autograd formula by numerical differentiation. Needs a sample in float64."),
        "op": attr.string(
            doc = "The operator: namespace::name, or namespace::name.overload.",
            mandatory = True,
        ),
        "samples": attr.label(
            doc = "The Python file.",
            allow_single_file = [".py"],
            mandatory = True,
        ),
        "vmap": attr.bool(doc = "Check `torch.vmap` over each argument, against a loop."),
        "_tool": tool_dependency("//torch_ops", cfg = "target"),
    },
    exec_groups = CODEGEN_EXEC_GROUPS,
    test = True,
)
