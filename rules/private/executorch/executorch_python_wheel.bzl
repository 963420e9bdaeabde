"""Rule executorch_python_wheel."""

load("//rules/private/actions:codegen.bzl", "CODEGEN_EXEC_GROUPS", "codegen_args", "run_codegen")
load("//rules/private/actions:label_text.bzl", "label_text")
load("//rules/private/actions:param_file.bzl", "one_line_each")
load(":executorch_python_library.bzl", "FILES_SUFFIX")

visibility(["//rules/..."])

def _is_of(library, file):
    """Returns whether a runfile is of a library: not one that the library depends on."""
    owner = file.owner
    names = [library.name, library.name + FILES_SUFFIX, library.name.removesuffix("_py")]
    return bool(owner) and owner.repo_name == library.repo_name and owner.package == library.package and owner.name in names

def write_wheel(ctx, requires):
    """Declares the action that writes a wheel.

    Args:
      ctx: of a rule with WHEEL_ATTRS and CODEGEN_EXEC_GROUPS.
      requires: list[str], the packages that pip installs with the wheel.
    Returns:
      list[Provider]
    """
    library = ctx.attr.library.label
    distribution = (ctx.attr.distribution or library.name.removesuffix("_py")).replace("-", "_")
    wheel = ctx.actions.declare_file("{}-{}-py3-none-{}.whl".format(distribution, ctx.attr.version, ctx.attr.platform))
    folder = ctx.attr.python_package.replace(".", "/") + "/" if ctx.attr.python_package else ""
    prefix = library.package + "/" if library.package else ""
    files = {}
    for file in ctx.attr.library[DefaultInfo].default_runfiles.files.to_list():
        if _is_of(library, file):
            path = file.short_path
            if path.startswith("../"):
                path = path.split("/", 2)[2]
            files[folder + path.removeprefix(prefix)] = file
    args = codegen_args(ctx, "wheel")
    args.add(label_text(ctx.label), format = "--label=%s")
    args.add(wheel, format = "--output=%s")
    args.add(distribution, format = "--distribution=%s")
    args.add(ctx.attr.platform, format = "--platform=%s")
    args.add(ctx.attr.python_requires, format = "--python_requires=%s")
    args.add(one_line_each(ctx, "summary"), format = "--summary=%s")
    args.add(ctx.attr.version, format = "--version=%s")
    args.add_all(requires, format_each = "--requires=%s")
    args.add_all(files.keys(), format_each = "--path=%s")
    args.add_all(files.values(), format_each = "--source=%s")
    run_codegen(
        ctx,
        args,
        inputs = files.values(),
        outputs = [wheel],
        mnemonic = "EtWheel",
        progress_message = "Writing the wheel %{label}",
    )
    return [DefaultInfo(files = depset([wheel]), runfiles = ctx.runfiles([wheel]))]

WHEEL_ATTRS = {
    "distribution": attr.string(doc = "The name for pip. Default: the name of the library."),
    "platform": attr.string(
        doc = "The platform tag: `manylinux_2_<minor version of glibc>_<processor>`. The error for an older platform than the " +
              "libraries need names the right one. `linux_x86_64` is not checked, and not for PyPI.",
        mandatory = True,
    ),
    "python_package": attr.string(
        doc = "The Python package in which the module is in the wheel, such as `acme.models`. Default: none; `import <name>`.",
    ),
    "python_requires": attr.string(
        doc = "The versions of Python. Default: `>=3.10`.",
        default = ">=3.10",
    ),
    "version": attr.string(
        doc = "The version of the package, such as `1.0.0`.",
        mandatory = True,
    ),
}

def _executorch_python_wheel_impl(ctx):
    return write_wheel(ctx, one_line_each(ctx, "requires"))

executorch_python_wheel = rule(
    doc = """A wheel of an `executorch_python_library`: `<distribution>-<version>-py3-none-<platform>.whl`.

One wheel is for all versions of Python, since the library needs none of Python's C API. The build fails if a library of the wheel
does not load on all systems of the platform. The same files give the same wheel.""",
    implementation = _executorch_python_wheel_impl,
    attrs = WHEEL_ATTRS | {
        "library": attr.label(
            doc = "The `executorch_python_library`.",
            mandatory = True,
        ),
        "requires": attr.string_list(
            doc = "The packages that pip installs with the wheel. Default: `numpy>=2.1`.",
            default = ["numpy>=2.1"],
        ),
        "summary": attr.string(
            doc = "One line that describes the package.",
            default = "An ExecuTorch program",
        ),
    },
    exec_groups = CODEGEN_EXEC_GROUPS,
)
