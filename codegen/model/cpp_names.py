"""Converts names of a YAML file to valid C++ names.

C++, and the headers that generated code includes, use some words otherwise. The generator chooses the names of
parameters, of functions and of their namespaces, and appends `_` or `_x` to such a word. The name of a kernel comes
from the kernel's source, so a kernel with such a name is an error.
"""

from __future__ import annotations

import re
from collections.abc import Collection

_KEYWORDS = (
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class "
    "compl concept const const_cast consteval constexpr constinit continue co_await co_return co_yield decltype "
    "default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int "
    "long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register "
    "reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch template "
    "this thread_local throw true try typedef typeid typename typeof union unsigned using virtual void volatile "
    "wchar_t while xor xor_eq"
)

# Macros in lower case of the headers that each source with a kernel includes.
_MACROS = (
    "alloca assert assert_perror be16toh be32toh be64toh errno htobe16 htobe32 htobe64 htole16 htole32 htole64 "
    "issubnormal le16toh le32toh le64toh math_errhandling offsetof pthread_cleanup_pop "
    "pthread_cleanup_pop_restore_np pthread_cleanup_push pthread_cleanup_push_defer_np sched_priority stderr stdin "
    "stdout strdupa strndupa va_arg va_copy va_end va_start EOF INFINITY NAN NULL"
)
# Macros of other systems, compilers and libraries.
_OTHER_MACROS = (
    "complex emit far forever foreach i386 imaginary interface linux major minor near noreturn sigmask signals slots "
    "small unix I"
)

# Names in generated code.
_USED = (
    "EValue Error EventTracerProfileOpScope KernelRuntimeContext OpFunction Span Kernel context "
    "event_tracer_log_evalue event_tracer_op_scope executorch int64_t rank_check result stack std takes_values torch"
)
# Types in signatures of kernels.
_TYPES = "ArrayRef Device Layout MemoryFormat Scalar ScalarType Tensor"

# Words that cannot be the name of a function or a namespace.
WORDS = frozenset(f"{_KEYWORDS} {_MACROS}".split())
_RESERVED = WORDS.union(f"{_OTHER_MACROS} {_USED} {_TYPES}".split())
_NOT_FOR_KERNELS = WORDS.union(["int64_t"])

# Names that may be macros of headers, and names that C++ reserves for the compiler: `NAN`, `M_PIf`, `__LINE__`,
# `_Bool`.
_LIKE_A_MACRO = re.compile(r"[A-Z][A-Z0-9_]\w*|_[A-Z]\w*|\w*__\w*")
_OF_THE_COMPILER = re.compile(r"_{1,2}[A-Z]\w*|__(?:asm|attribute|const|func|inline|restrict|typeof|volatile)__")


def free(name: str, taken: Collection[str] = ()) -> str:
    """Returns the name, with a suffix if C++, a header or a name in `taken` uses it."""
    if name in _RESERVED:
        name += "_"
    elif _LIKE_A_MACRO.fullmatch(name):
        name += "_x"  # With `_`, the name may be a macro, too, such as `_T_SIZE_`.
    while name in taken:
        name += "_"
    return name


def is_possible(name: str) -> bool:
    """Returns whether a function or a namespace can have a name."""
    return name not in _NOT_FOR_KERNELS and not _OF_THE_COMPILER.fullmatch(name)
