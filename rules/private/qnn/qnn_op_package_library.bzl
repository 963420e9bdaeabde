"""Rules qnn_op_package_library and qnn_op_package_bundle."""

load("//rules/private/actions:implicit_attributes.bzl", "tool_dependency")
load("//rules/private/actions:label_text.bzl", "label_text")
load("//rules/private/providers:qnn_op_package_info.bzl", "QnnOpPackageInfo")
load("//rules/private/providers:qnn_op_package_library_info.bzl", "QnnOpPackageLibraryInfo")
load("//rules/private/toolchains:qnn_platform.bzl", "QnnPlatformInfo")

visibility(["//qnn/...", "//rules/..."])

UNKNOWN_PROCESSOR_ERR = """{label}: attribute asm_srcs: expected keys among {processors}; got {unknown}.

Likely cause: a misspelled key, or an architecture that the attribute hexagon_archs does not list.
Fix: use keys among {processors}; or add the architecture to hexagon_archs.
See: docs/errors.md#unknown-processor"""

def check_processors(label, asm_srcs, processors, fail = fail):
    """Checks that sources in assembly are for processors of a package.

    Args:
      label: str, the label of the package.
      asm_srcs: dict[str, list[Label]], the sources by processor.
      processors: list[str], the processors of the package.
      fail: the function to call with an error.
    """
    unknown = [processor for processor in asm_srcs if processor not in processors]
    if unknown:
        fail(UNKNOWN_PROCESSOR_ERR.format(label = label, processors = ", ".join(processors), unknown = ", ".join(unknown)))

def _qnn_op_package_library_impl(ctx):
    package = ctx.attr.package[QnnOpPackageInfo]
    platform = ctx.attr.platform[QnnPlatformInfo]
    folder = ctx.actions.declare_directory(ctx.label.name)
    args = ctx.actions.args()
    args.add(label_text(ctx.label), format = "--label=%s")
    args.add(package.registration, format = "--registration=%s")
    args.add(platform.role, format = "--role=%s")
    args.add(platform.sdk_build_id, format = "--sdk_build_id=%s")
    args.add(platform.compiler, format = "--compiler=%s")
    args.add_all(platform.compile_flags, format_each = "--compile_flag=%s")
    args.add_all(ctx.attr.copts, format_each = "--compile_flag=%s")
    args.add_all(platform.link_flags, format_each = "--link_flag=%s")
    args.add(package.interface, format = "--src=%s")
    args.add_all(package.op_srcs, format_each = "--src=%s")
    args.add_all(ctx.files.asm_srcs, format_each = "--asm_src=%s")
    args.add_all([folder], format_each = "--output=%s", expand_directories = False)
    ctx.actions.run(
        executable = ctx.executable._build,
        arguments = [args],
        inputs = depset(
            [package.registration, package.interface] + ctx.files.asm_srcs,
            transitive = [package.op_srcs, platform.files],
        ),
        outputs = [folder],
        env = {"PATH": "/usr/bin:/bin"},
        mnemonic = "EtQnnLibrary",
        progress_message = "Compiling the op package %{label}",
    )
    return [
        DefaultInfo(files = depset([folder]), runfiles = ctx.runfiles([folder])),
        QnnOpPackageLibraryInfo(folder = folder),
    ]

qnn_op_package_library = rule(
    doc = """The library of an op package for one kind of processor: a folder with the library, whose file has the registered name of
the package, and `sdk.json`, which names the SDK of the library.""",
    implementation = _qnn_op_package_library_impl,
    attrs = {
        "asm_srcs": attr.label_list(
            doc = "Sources in assembly for the processor.",
            allow_files = [".S"],
        ),
        "copts": attr.string_list(doc = "Options for the compiler."),
        "package": attr.label(
            doc = "The `qnn_op_package`.",
            mandatory = True,
            providers = [QnnOpPackageInfo],
        ),
        "platform": attr.label(
            doc = "The compiler and the SDK's headers.",
            mandatory = True,
            providers = [QnnPlatformInfo],
        ),
        "_build": tool_dependency("//qnn:build_library"),
    },
    provides = [QnnOpPackageLibraryInfo],
)

def _qnn_op_package_bundle_impl(ctx):
    package = ctx.attr.package[QnnOpPackageInfo]
    folder = ctx.actions.declare_directory(ctx.label.name)
    args = ctx.actions.args()
    args.add(label_text(ctx.label), format = "--label=%s")
    args.add(package.registration, format = "--registration=%s")
    args.add(ctx.attr.hexagon_arch, format = "--hexagon_arch=%s")
    args.add_all(ctx.files.libraries, format_each = "--library=%s", expand_directories = False)
    args.add_all([folder], format_each = "--output=%s", expand_directories = False)
    ctx.actions.run(
        executable = ctx.executable._bundle,
        arguments = [args],
        inputs = ctx.files.libraries + [package.registration],
        outputs = [folder],
        mnemonic = "EtQnnBundle",
        progress_message = "Bundling the op package %{label}",
    )
    return [DefaultInfo(files = depset([folder]), runfiles = ctx.runfiles([folder]))]

qnn_op_package_bundle = rule(
    doc = "A folder with the libraries of an op package for a device, and `push.sh`, which pushes the libraries and runs a program.",
    implementation = _qnn_op_package_bundle_impl,
    attrs = {
        "hexagon_arch": attr.string(
            doc = "The version of the device's DSP, e.g. v75.",
            mandatory = True,
        ),
        "libraries": attr.label_list(
            doc = "The package's libraries for the processor and for the DSP of a device.",
            mandatory = True,
        ),
        "package": attr.label(
            doc = "The `qnn_op_package`.",
            mandatory = True,
            providers = [QnnOpPackageInfo],
        ),
        "_bundle": tool_dependency("//qnn:bundle"),
    },
)
