"""Shared libraries that a linker keeps although no symbol refers to them."""

load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules/private/actions:dynamic_libraries.bzl", "dynamic_libraries")

visibility(["//rules/..."])

def kept_libraries(label, library):
    """A library whose shared libraries register something when a program loads them.

    Some toolchains link with `--as-needed`: Ubuntu's GCC, and Debian's for other processors. The linker then leaves out a shared
    library without symbols that the program uses.

    Args:
      label: Label, the target that returns the result.
      library: CcInfo.
    Returns:
      CcInfo
    """
    files = [file for file in dynamic_libraries([library.linking_context]) if ".so" in file.basename]
    if not files:
        return library
    flags = ["-Wl,--push-state,--no-as-needed"]
    for file in files:
        # By name, not by path: a library without a SONAME would be needed at the path that it has in the build.
        flags += ["-L" + file.dirname, "-l:" + file.basename]
    kept = cc_common.create_linker_input(
        owner = label,
        user_link_flags = depset(flags + ["-Wl,--pop-state"], order = "preorder"),
        additional_inputs = depset(files),
    )
    return cc_common.merge_cc_infos(cc_infos = [
        library,
        CcInfo(linking_context = cc_common.create_linking_context(linker_inputs = depset([kept]))),
    ])
