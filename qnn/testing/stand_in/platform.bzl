"""Rule stand_in_platform."""

load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain", "use_cc_toolchain")

# buildifier: disable=bzl-visibility
load("//rules/private/toolchains:qnn_platform.bzl", "QnnPlatformInfo")

def _stand_in_platform_impl(ctx):
    cc_toolchain = find_cc_toolchain(ctx)
    return [QnnPlatformInfo(
        compile_flags = [
            "-std=c++17",
            "-O2",
            "-fPIC",
            "-Wall",
            "-Werror",
            "-Wno-format",
            "-Iqnn/testing/stand_in",
            "-DQNN_API=__attribute__((visibility(\"default\")))",
        ],
        compiler = cc_toolchain.compiler_executable,
        files = depset(ctx.files.headers, transitive = [cc_toolchain.all_files]),
        link_flags = ["-Wl,--no-undefined", "-lstdc++", "-lm"],
        role = ctx.attr.role,
        sdk_build_id = "stand-in",
    )]

stand_in_platform = rule(
    doc = "The C++ compiler of the machine with stand-ins for the headers of an SDK, for tests.",
    implementation = _stand_in_platform_impl,
    attrs = {
        "headers": attr.label_list(
            doc = "The headers.",
            allow_files = [".h"],
        ),
        "role": attr.string(
            doc = "The library's role in ExecuTorch.",
            mandatory = True,
        ),
    },
    provides = [QnnPlatformInfo],
    toolchains = use_cc_toolchain(),
)
