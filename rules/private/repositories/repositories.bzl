"""What the module extension and its WORKSPACE twin have in common: the repositories and their defaults."""

load(":cuda_repository.bzl", "cuda_repository")
load(":host_python.bzl", "host_python_repository")
load(":python_repository.bzl", "python_repository")
load(":qnn_repository.bzl", "qnn_repository")
load(":runtime_repository.bzl", "runtime_repository")
load(":torch_repository.bzl", "torch_repository")

visibility(["//rules/...", "//tests/..."])

SEVERAL_SOURCES_ERR = """rules_executorch: executorch.{tag}: expected one of the attributes {possible}; got {given}.

Likely cause: an attribute was added to the tag, and the older attribute was not removed.
Fix: keep one of {given}."""

_SOURCES = ["requirements", "site_packages", "wheel", "deps"]

def merge_tags(mctx, tag_name):
    """The attributes of the one tag that decides: the root module's, else the first that any module gives.

    Args:
      mctx: the module context.
      tag_name: name of the tag class.
    Returns:
      dict[str, value]: attributes that were given.
    """
    for root in [True, False]:
        for module in mctx.modules:
            if module.is_root == root:
                for tag in getattr(module.tags, tag_name):
                    return {a: getattr(tag, a) for a in dir(tag) if getattr(tag, a)}
    return {}

def with_source(tag, given, default, fail = fail):
    """The attributes given, with the default source if they name none.

    Args:
      tag: name of the tag, for the message.
      given: dict of attributes.
      default: Label of the default lock.
      fail: what to call with a message if several sources are named.
    Returns:
      dict of attributes, or None after a failure.
    """
    sources = [a for a in _SOURCES if a in given]
    if len(sources) > 1:
        return fail(SEVERAL_SOURCES_ERR.format(tag = tag, given = ", ".join(sources), possible = ", ".join(_SOURCES)))
    return given if sources else dict(given, requirements = default)

def declare_repositories(runtime, python, codegen_python):
    """Declares the repositories `executorch_runtime`, `_runtime_linux_arm64`, `_python`, `_torch`, `_codegen_python`, `_host_python`, `_cuda`, `_qnn`, `_uv`.

    Args:
      runtime: dict of runtime_repository's attributes that were given.
      python: dict of python_repository's, for export and tests.
      codegen_python: dict of python_repository's, for the code generator.
    """
    runtime = with_source("runtime", runtime, Label("//requirements:runtime.txt"))
    python = with_source("python", python, Label("//requirements:export.txt"))
    codegen_python = with_source("codegen_python", codegen_python, Label("//requirements:codegen.txt"))
    cuda_repository(name = "executorch_cuda")

    # A hub of rules_python has the packages for the workspace's Python toolchain.
    host_python_repository(
        name = "executorch_host_python",
        tools_have_workspaces = "deps" in python,
    )
    qnn_repository(name = "executorch_qnn")
    runtime_repository(name = "executorch_runtime", **runtime)
    runtime_repository(
        name = "executorch_runtime_linux_arm64",
        expected_version = Label("@executorch_runtime//:VERSION"),
        platform = "linux_arm64",
        requirements = runtime.get("requirements", Label("//requirements:runtime.txt")),
    )
    python_repository(
        name = "executorch_python",
        tag = "python",
        packages = ["absl_py", "executorch", "torch"],
        precompile = ["torch", "executorch.exir", "executorch.extension.flat_tensor.serialize.serialize"],
        has_runtime = True,
        **python
    )
    torch_repository(
        name = "executorch_torch",
        python = Label("@executorch_python//:BUILD.bazel"),
    )
    python_repository(
        name = "executorch_codegen_python",
        tag = "codegen_python",
        is_small = True,
        packages = ["absl_py", "pyelftools", "pyyaml"],
        precompile = ["absl.app", "yaml"],
        **codegen_python
    )
    python_repository(
        name = "executorch_uv",
        tag = "python",
        is_optional = True,
        is_small = True,
        needs_pip = True,
        requirements = Label("//requirements:uv.txt"),
    )
