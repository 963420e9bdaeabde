"""Macros gcc_toolchain and gcc_linux_toolchain."""

# rules_cc has no other configuration of GCC and Clang, and LLVM's toolchains use this one, too.
# buildifier: disable=bzl-visibility
load("@rules_cc//cc/private/toolchain:unix_cc_toolchain_config.bzl", "cc_toolchain_config")
load("@rules_cc//cc/toolchains:cc_toolchain.bzl", "cc_toolchain")

_TOOLS = ["ar", "cpp", "gcc", "gcov", "ld", "nm", "objcopy", "objdump", "strip"]

def gcc_toolchain(
        target,
        include_folders,
        libraries,
        binutils = [],
        compile_flags = [],
        link_flags = [],
        unfiltered_compile_flags = [],
        **kwargs):
    """Declares a C++ toolchain from the files of a gcc_repository, as `toolchain`, and its libraries as `libraries`.

    Args:
      target: the prefix of the names of the compiler's programs.
      include_folders: the folders of the headers of the compiler and of the C and C++ libraries.
      libraries: patterns of the files to link.
      binutils: patterns of further files that the tools need.
      compile_flags: flags of the compiler.
      link_flags: flags of the linker.
      unfiltered_compile_flags: flags of the compiler, after the user's flags.
      **kwargs: attributes of cc_toolchain_config.
    """
    native.filegroup(
        name = "binutils",
        srcs = native.glob(["bin/*", "usr/bin/*"] + binutils),
    )
    native.filegroup(
        name = "compiler",
        srcs = [":binutils"] + native.glob([folder + "/**" for folder in include_folders]),
    )
    native.filegroup(
        name = "libraries",
        srcs = native.glob(libraries),
    )
    native.filegroup(
        name = "all_files",
        srcs = [":compiler", ":libraries"],
    )
    cc_toolchain_config(
        name = "config",
        # This flag keeps paths relative to the execution root.
        compile_flags = ["-no-canonical-prefixes"] + compile_flags,
        compiler = "gcc",
        cxx_builtin_include_directories = include_folders,
        cxx_flags = ["-std=c++17"],
        host_system_name = "local",
        link_flags = ["-no-canonical-prefixes"] + link_flags,
        supports_start_end_lib = False,
        target_system_name = target,
        # The configuration requires llvm-cov, which is never run.
        tool_paths = {tool: "bin/" + tool for tool in _TOOLS + ["llvm-cov"]},
        toolchain_identifier = target,
        unfiltered_compile_flags = unfiltered_compile_flags + [
            "-fno-canonical-system-headers",
            "-Wno-builtin-macro-redefined",
            "-D__DATE__=\"redacted\"",
            "-D__TIMESTAMP__=\"redacted\"",
            "-D__TIME__=\"redacted\"",
        ],
        **kwargs
    )
    cc_toolchain(
        name = "toolchain",
        all_files = ":all_files",
        ar_files = ":binutils",
        as_files = ":compiler",
        compiler_files = ":compiler",
        dwp_files = ":binutils",
        linker_files = ":all_files",
        objcopy_files = ":binutils",
        strip_files = ":binutils",
        toolchain_config = ":config",
    )

# As gcc_toolchain, the macro is the whole of a BUILD file.
# buildifier: disable=unnamed-macro
def gcc_linux_toolchain(target, cpu, loader):
    """Declares a C++ toolchain for Linux from the files of a gcc_repository, and the dynamic loader as `loader`.

    An emulator needs the loader and `libraries`.

    Args:
      target: the prefix of the names of the compiler's programs.
      cpu: the processor, as Bazel's C++ rules name it.
      loader: the name of the dynamic loader.
    """
    native.filegroup(
        name = "loader",
        srcs = ["usr/{}/lib/{}".format(target, loader)],
    )
    gcc_toolchain(
        abi_libc_version = "glibc",
        abi_version = "gcc",
        binutils = [
            "usr/lib/x86_64-linux-gnu/*",
            "usr/{}/bin/*".format(target),
        ],
        compile_flags = [
            "-fstack-protector",
            "-Wall",
            "-fno-omit-frame-pointer",
        ],
        cpu = cpu,
        dbg_compile_flags = ["-g"],
        include_folders = [
            "usr/lib/gcc-cross",
            "usr/{}/include".format(target),
        ],
        libraries = ["usr/{}/lib/**".format(target)],
        link_flags = [
            "-Wl,-z,relro,-z,now",
            # The path of the dependencies of shared libraries.
            "-Wl,-rpath-link,{}/usr/{}/lib".format(
                native.package_relative_label(":toolchain").workspace_root,
                target,
            ),
            "-pass-exit-codes",
        ],
        link_libs = [
            "-Wl,--push-state,-as-needed",
            "-lstdc++",
            "-lm",
            "-Wl,--pop-state",
        ],
        opt_compile_flags = [
            "-g0",
            "-O2",
            "-D_FORTIFY_SOURCE=1",
            "-DNDEBUG",
            "-ffunction-sections",
            "-fdata-sections",
        ],
        opt_link_flags = ["-Wl,--gc-sections"],
        target = target,
        target_libc = "glibc",
    )
