"""The module extension that brings the ExecuTorch wheel and the Python packages as repositories."""

load("//rules/private/repositories:repositories.bzl", "declare_repositories", "merge_tags")

_runtime = tag_class(
    doc = "Where the C++ runtime comes from: repository `executorch_runtime`. Default: the executorch wheel, by pip.",
    attrs = {
        "requirements": attr.label(doc = "pip requirements file that pins `executorch` with hashes."),
        "site_packages": attr.string(doc = "Absolute path of an existing site-packages directory that holds executorch."),
        "wheel": attr.label(doc = "An executorch wheel file, e.g. out of a pip.parse hub."),
    },
)

_PACKAGES = {
    "allow_cuda": attr.bool(doc = "Accept a CUDA build of torch. Default: False."),
    "deps": attr.label_keyed_string_dict(doc = "py_library to its distribution, e.g. {\"@pypi//torch\": \"torch\"}: your own pip.parse hub's."),
    "requirements": attr.label(doc = "pip requirements file: all packages (also indirect ones) with hashes."),
    "site_packages": attr.string(doc = "Absolute path of an existing site-packages directory."),
}

_python = tag_class(
    doc = "Where torch, executorch and what a model's code imports come from: repository `executorch_python`.",
    attrs = _PACKAGES,
)

_codegen_python = tag_class(
    doc = "Where the code generator's packages come from: repository `executorch_codegen_python`.",
    attrs = _PACKAGES,
)

def _executorch_impl(mctx):
    declare_repositories(
        runtime = merge_tags(mctx, "runtime"),
        python = merge_tags(mctx, "python"),
        codegen_python = merge_tags(mctx, "codegen_python"),
    )

executorch = module_extension(
    doc = """The repositories `executorch_runtime`, `executorch_python`, `executorch_codegen_python`, and `executorch_torch`, which
has the C++ side of the torch of `executorch_python`. The root module's tags decide.""",
    implementation = _executorch_impl,
    tag_classes = {
        "codegen_python": _codegen_python,
        "python": _python,
        "runtime": _runtime,
    },
)
