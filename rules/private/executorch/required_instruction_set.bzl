"""Rule required_instruction_set."""

load("@rules_cc//cc:find_cc_toolchain.bzl", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules/private/actions:cc.bzl", "CC_LINK_EXEC_GROUPS", "archive_cc", "compile_cc", "configure_cc")
load("//rules/private/actions:instruction_sets.bzl", "BASELINE", "INSTRUCTION_SET_ATTRS", "instruction_sets")

visibility(["//runtime/..."])

# Priority 101, the first one for programs, runs the check before all other constructors of the program.
_SOURCE = """// Ends a program whose kernels the processor cannot run. Generated; do not edit.

#include "runtime/kernel_api/instruction_set.h"

namespace {{

[[gnu::constructor(101)]] void require() {{
  rules_executorch::require_instruction_set(rules_executorch::InstructionSet::k{enumerator});
}}

}}  // namespace
"""

def _required_instruction_set_impl(ctx):
    plain = instruction_sets(ctx).plain
    if plain == BASELINE:
        return [CcInfo()]
    cc = configure_cc(ctx)
    library = ctx.attr.library[CcInfo]
    source = ctx.actions.declare_file(ctx.label.name + ".cpp")
    enumerator = "".join([word.capitalize() for word in plain.split("_")])
    ctx.actions.write(source, _SOURCE.format(enumerator = enumerator))
    _, objects = compile_cc(cc, srcs = [source], compilation_contexts = [library.compilation_context])
    linking_context, _ = archive_cc(cc, objects, [library.linking_context], alwayslink = True)
    return [CcInfo(linking_context = linking_context)]

required_instruction_set = rule(
    doc = "A dependency of all kernel libraries. Checks at program start that the processor has the instruction set of all kernels.",
    implementation = _required_instruction_set_impl,
    attrs = INSTRUCTION_SET_ATTRS | {
        "library": attr.label(
            doc = "The library that detects the processor's instruction sets.",
            mandatory = True,
            providers = [CcInfo],
        ),
    },
    exec_groups = CC_LINK_EXEC_GROUPS,
    fragments = ["cpp"],
    provides = [CcInfo],
    toolchains = use_cc_toolchain(),
)
