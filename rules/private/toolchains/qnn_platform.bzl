"""Compilers and SDKs for the libraries of Qualcomm op packages, as targets."""

QnnPlatformInfo = provider(
    doc = "A compiler with an SDK's headers, for one kind of processor.",
    fields = {
        "compile_flags": "list[str]: flags to compile with.",
        "compiler": "str: path of the compiler, which links, too.",
        "files": "depset[File]: the compiler and the headers, if they are files of the build.",
        "link_flags": "list[str]: flags to link with.",
        "role": "str: the library's role in ExecuTorch: `<target>.<platform>`, e.g. HTP.AARCH64_ANDROID.",
        "sdk_build_id": "str: the build id of the SDK. The library is compatible with this SDK only.",
    },
)

QnnSdkInfo = provider(
    doc = "The SDK of the machine.",
    fields = {"root": "str: the SDK's folder; empty if there is none."},
)

def _qnn_sdk_impl(ctx):
    return [
        QnnSdkInfo(root = ctx.attr.root),
        platform_common.TemplateVariableInfo({"QNN_SDK_ROOT": ctx.attr.root}),
    ]

qnn_sdk = rule(
    doc = "Qualcomm's AI Engine Direct SDK of the machine.",
    implementation = _qnn_sdk_impl,
    attrs = {"root": attr.string(doc = "The SDK's folder; empty if there is none.")},
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
    doc = "A compiler from the SDKs of the machine, for one kind of processor.",
    implementation = _qnn_platform_impl,
    attrs = {
        "compile_flags": attr.string_list(doc = "Flags to compile with."),
        "compiler": attr.string(doc = "Path of the compiler, which links, too."),
        "link_flags": attr.string_list(doc = "Flags to link with."),
        "role": attr.string(
            doc = "The library's role in ExecuTorch.",
            values = ["CPU.AARCH64_ANDROID", "CPU.X86_64", "HTP.AARCH64_ANDROID"],
        ),
        "sdk_build_id": attr.string(doc = "The build id of the SDK."),
    },
    provides = [QnnPlatformInfo],
)
