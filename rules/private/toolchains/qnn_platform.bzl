"""What compiles the libraries of Qualcomm op packages, as a target."""

QnnPlatformInfo = provider(
    doc = "A compiler with an SDK's headers, for one kind of processor.",
    fields = {
        "compile_flags": "list[str]: flags to compile with.",
        "compiler": "str: path of the compiler, which links, too.",
        "files": "depset[File]: the compiler and headers, where they are files of the build.",
        "link_flags": "list[str]: flags to link with.",
        "role": "str: what the library is in ExecuTorch's terms: `<target>.<platform>`, e.g. HTP.AARCH64_ANDROID.",
        "sdk_build_id": "str: the build id of the SDK, whose libraries alone the library fits.",
    },
)

QnnSdkInfo = provider(
    doc = "The SDK of the machine.",
    fields = {"root": "str: its folder; empty if there is none."},
)

def _qnn_sdk_impl(ctx):
    return [
        QnnSdkInfo(root = ctx.attr.root),
        platform_common.TemplateVariableInfo({"QNN_SDK_ROOT": ctx.attr.root}),
    ]

qnn_sdk = rule(
    doc = "Qualcomm's AI Engine Direct SDK of the machine.",
    implementation = _qnn_sdk_impl,
    attrs = {"root": attr.string(doc = "Its folder; empty if there is none.")},
    provides = [QnnSdkInfo],
)

def _qnn_platform_impl(ctx):
    return [QnnPlatformInfo(
        compile_flags = ctx.attr.compile_flags,
        compiler = ctx.attr.compiler,
        files = depset(),
        link_flags = ctx.attr.link_flags,
        role = ctx.attr.role,
        sdk_build_id = ctx.attr.sdk_build_id,
    )]

qnn_platform = rule(
    doc = "A compiler out of the SDKs of the machine, for one kind of processor.",
    implementation = _qnn_platform_impl,
    attrs = {
        "compile_flags": attr.string_list(doc = "Flags to compile with."),
        "compiler": attr.string(doc = "Path of the compiler, which links, too."),
        "link_flags": attr.string_list(doc = "Flags to link with."),
        "role": attr.string(
            doc = "What the library is in ExecuTorch's terms.",
            values = ["CPU.AARCH64_ANDROID", "CPU.X86_64", "HTP.AARCH64_ANDROID"],
        ),
        "sdk_build_id": attr.string(doc = "The build id of the SDK."),
    },
    provides = [QnnPlatformInfo],
)
