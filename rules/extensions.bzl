"""The module extension for the repositories of the ExecuTorch wheel and of Python packages."""

load("//rules/private/repositories:repositories.bzl", "declare_repositories", "merge_tags")

_runtime = tag_class(
    doc = "The source of the C++ runtime, the repository `executorch_runtime`. Default: the executorch wheel, by pip.",
    attrs = {
        "requirements": attr.label(doc = "pip requirements file that pins `executorch` with hashes."),
        "site_packages": attr.string(doc = "Absolute path of an existing site-packages directory that holds executorch."),
        "wheel": attr.label(doc = "An executorch wheel file, e.g. from a pip.parse hub."),
    },
)

_PACKAGES = {
    "allow_cuda": attr.bool(doc = "Accept a CUDA build of torch. Default: False."),
    "deps": attr.label_keyed_string_dict(doc = "py_libraries of your own pip.parse hub, with their distributions, e.g. {\"@pypi//torch\": \"torch\"}."),
    "requirements": attr.label(doc = "pip requirements file with all direct and indirect packages, with hashes."),
    "site_packages": attr.string(doc = "Absolute path of an existing site-packages directory."),
}

_python = tag_class(
    doc = "The source of torch, executorch and the imports of models' code: the repository `executorch_python`.",
    attrs = _PACKAGES,
)

_codegen_python = tag_class(
    doc = "The source of the code generator's packages: the repository `executorch_codegen_python`.",
    attrs = _PACKAGES,
)

def _executorch_impl(mctx):
    declare_repositories(
        runtime = merge_tags(mctx, "runtime"),
        python = merge_tags(mctx, "python"),
        codegen_python = merge_tags(mctx, "codegen_python"),
    )

executorch = module_extension(
    doc = """Declares the repositories `executorch_runtime`, `executorch_python`, `executorch_codegen_python`, and `executorch_torch`,
which has the C++ headers and libraries of the torch in `executorch_python`. Only the root module's tags count.""",
    implementation = _executorch_impl,
    tag_classes = {
        "codegen_python": _codegen_python,
        "python": _python,
        "runtime": _runtime,
    },
)
