"""Qualcomm's SDKs on the machine, if it has them. Nothing is downloaded."""

visibility(["//rules/..."])

_ENVIRON = ["QNN_SDK_ROOT", "HEXAGON_SDK_ROOT", "ANDROID_NDK_ROOT", "X86_CXX"]
_ARCHS = ["v68", "v69", "v73", "v75", "v79", "v81"]

_VISIBLE = "__attribute__((visibility(\"default\")))"

_HEADER = """\
load("@rules_executorch//rules/private/toolchains:qnn_platform.bzl", "qnn_platform", "qnn_sdk")

package(default_visibility = ["//visibility:public"])

qnn_sdk(
    name = "sdk",
    root = {root},
)
"""

_PLATFORM = """
# What needs the SDKs for {name} is compatible with this.
alias(
    name = "{name}_found",
    actual = "@platforms//{compatible}",
)

qnn_platform(
    name = "{name}",
    compile_flags = {compile_flags},
    compiler = {compiler},
    link_flags = {link_flags},
    role = "{role}",
    sdk_build_id = {sdk_build_id},
)
"""

def _folder(rctx, variable):
    """The folder that an environment variable names, if there is one."""
    value = rctx.os.environ.get(variable)
    return rctx.path(value) if value and rctx.path(value).exists else None

def _file(folder, path):
    """A path below a folder as text, if it exists."""
    found = folder.get_child(*path.split("/")) if folder else None
    return str(found) if found and found.exists else None

def version_key(name):
    """A name such as 8.8.02 as what orders it among its like.

    Args:
      name: str.
    Returns:
      list[int]
    """
    return [int(part) if part.isdigit() else 0 for part in name.split(".")]

def build_id(header):
    """The build id in the text of QnnSdkBuildId.h.

    Args:
      header: str.
    Returns:
      str; empty if there is none.
    """
    for line in header.splitlines():
        if "QNN_SDK_BUILD_ID" in line and line.count("\"") == 2:
            return line.split("\"")[1]
    return ""

def _hexagon_tools(hexagon):
    """The newest compiler of the Hexagon SDK."""
    versions = hexagon.get_child("tools", "HEXAGON_Tools") if hexagon else None
    if not versions or not versions.exists:
        return None
    found = sorted(versions.readdir(), key = lambda path: version_key(path.basename))
    return found[-1].get_child("Tools") if found else None

def _platforms(rctx):
    """The attributes of each platform; those without a compiler are not found."""
    qnn, hexagon, ndk = [_folder(rctx, variable) for variable in _ENVIRON[:3]]
    tools = _hexagon_tools(hexagon)
    include = _file(qnn, "include/QNN")
    native = _file(tools, "libnative/include")
    common = [
        "-std=c++17",
        "-O2",
        "-fPIC",
        "-stdlib=libc++",
        "-Wno-format",
        "-I{}".format(include),
        "-DQNN_API=" + _VISIBLE,
        "-D__QAIC_HEADER_EXPORT=" + _VISIBLE,
    ]
    host = ["-D__HVXDBL__", "-DUSE_OS_LINUX", "-I{}".format(native), "-fomit-frame-pointer", "-Wno-invalid-offsetof"]
    x86 = rctx.os.environ.get("X86_CXX") or rctx.which("clang++")
    clang = _file(ndk, "toolchains/llvm/prebuilt/linux-x86_64/bin/clang++")
    hexagon_clang = _file(tools, "bin/hexagon-clang++")
    android = ["--target=aarch64-none-linux-android21"]
    platforms = {
        "aarch64_android": struct(
            compile_flags = common + host + android + ["-DANDROID"],
            compiler = clang if include and native else None,
            link_flags = android + [
                "-stdlib=libc++",
                "-static-libstdc++",
                "-L{}/lib/aarch64-android".format(qnn),
                "-lQnnHtp",
                "-lQnnHtpPrepare",
            ],
            role = "CPU.AARCH64_ANDROID",
        ),
        # Packages for the CPU backend need no Hexagon SDK.
        "cpu_aarch64_android": struct(
            compile_flags = common + android,
            compiler = clang if include else None,
            link_flags = android + ["-stdlib=libc++", "-static-libstdc++"],
            role = "CPU.AARCH64_ANDROID",
        ),
        "cpu_x86_64": struct(
            compile_flags = common,
            compiler = str(x86) if x86 and include else None,
            link_flags = ["-stdlib=libc++"],
            role = "CPU.X86_64",
        ),
        "x86_64": struct(
            compile_flags = common + host,
            compiler = str(x86) if x86 and include and native else None,
            link_flags = [
                "-stdlib=libc++",
                "-Wl,--whole-archive",
                "-L{}/libnative/lib".format(tools),
                "-lnative",
                "-Wl,--no-whole-archive",
                "-lpthread",
            ],
            role = "CPU.X86_64",
        ),
    }
    for arch in _ARCHS:
        rtos = _file(hexagon, "rtos/qurt/compute{}/include".format(arch))
        platforms["hexagon_" + arch] = struct(
            compile_flags = common + [
                "-m" + arch,
                "-mhvx",
                "-mhvx-length=128B",
                "-mhmx",
                "-DUSE_OS_QURT",
                "-DPREPARE_DISABLED",
                "-I{}/qurt".format(rtos),
                "-I{}/posix".format(rtos),
                "-I{}/incs".format(hexagon),
                "-I{}/incs/stddef".format(hexagon),
            ],
            compiler = hexagon_clang if include and rtos else None,
            link_flags = ["-m" + arch],
            role = "HTP.AARCH64_ANDROID",
        )
    return qnn, platforms

def _qnn_repository_impl(rctx):
    qnn, platforms = _platforms(rctx)
    header = _file(qnn, "include/QNN/QnnSdkBuildId.h")
    sdk_build_id = build_id(rctx.read(header)) if header else ""
    text = _HEADER.format(root = repr(str(qnn) if qnn else ""))
    for name, platform in platforms.items():
        found = platform.compiler != None
        text += _PLATFORM.format(
            compatible = "os:linux" if found else ":incompatible",
            compile_flags = platform.compile_flags if found else [],
            compiler = repr(platform.compiler or ""),
            link_flags = platform.link_flags if found else [],
            name = name,
            role = platform.role,
            sdk_build_id = repr(sdk_build_id),
        )
    rctx.file("BUILD.bazel", text)

qnn_repository = repository_rule(
    doc = """Qualcomm's AI Engine Direct and Hexagon SDKs and Android's NDK, where QNN_SDK_ROOT, HEXAGON_SDK_ROOT and
ANDROID_NDK_ROOT name the user's own copies.

Without those that a platform needs, `@<name>//:<platform>_found` is a constraint that no platform has.""",
    implementation = _qnn_repository_impl,
    environ = _ENVIRON + ["PATH"],
    configure = True,
    local = True,
)
