"""Makes libraries of operators with odd names: names that C++ or headers use for something else, and clashing names.

The same seed gives the same libraries. This module does not decide whether a library is accepted.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass

from codegen.model import cpp_names

# Names in generated code, in its namespaces and in ExecuTorch's namespaces, besides those of standard headers.
_TAKEN = (
    "Error EValue Kernel KernelRuntimeContext Layout MemoryFormat OpFunction Scalar ScalarType Span Tensor aten "
    "aten_add aten_operator at c10 call_guarded context count etensor event_tracer_log_evalue event_tracer_op_scope "
    "executor executorch guarded kKernels kRegistered kernels library name native rank_of result runtime stack std "
    "rank_check takes_values torch typed_kernels foreach forever emit signals slots linux unix i386 near far small "
    "interface I CallContext FixedTensor TensorImpl TensorInfo address dynamic_ kArray0 kOperators kTensors memories_ "
    "memory number1 output0 run scratch_ tensor0 view"
)

_SHAPED = "_ __ _1 _a a_ a__ __a a__b a_b A AB A_B aB __func__ __LINE__ a1 l O0 class_ int_ default_ errno_ é ²."

# The words that do not come from headers.
OWN_WORDS = tuple(dict.fromkeys([*sorted(cpp_names.WORDS), *_TAKEN.split(), *_SHAPED.split()]))

# The plain names of the parts of an entry.
_PLAIN = ("ops", "scale", "out", "mine", "add_impl", "input")

_SIGNATURES = (
    ("Tensor {0}", "Tensor(a!) {1}"),
    ("Tensor {0}, int {2}", "Tensor(a!) {1}"),
    ("Tensor? {0}, float? {2}, str {3}", "Tensor(a!) {1}"),
    ("Tensor[] {0}, int[] {2}, ScalarType {3}", "Tensor(a!)[] {1}"),
    ("Scalar {0}, bool[] {2}, Device? {3}, MemoryFormat? {4}, Layout {5}", "Tensor(a!) {1}"),
    ("Tensor {0}", ""),
    ("Tensor {0}, Tensor?[] {1}", ""),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One operator of a YAML file: its schema and its kernel."""

    func: str
    kernel: str

    def __str__(self) -> str:
        return f"- func: {json.dumps(self.func)}\n  kernels: [{{kernel_name: {json.dumps(self.kernel)}}}]\n"


def sweep(words: Sequence[str]) -> list[Entry]:
    """Returns entries with each word in every part of an operator, and own words in every part of a kernel's name.

    An entry has one odd part. Words of headers are not used for kernels: a kernel with such a name would not compile in
    its own source.
    """
    entries: list[Entry] = []
    for i, word in enumerate([*OWN_WORDS, *words]):
        entries += [
            Entry(f"ops::argument_{i}.out(Tensor {word}, *, Tensor(a!) out) -> Tensor(a!)", f"mine::argument_{i}"),
            Entry(f"ops::out_{i}.out(Tensor x, *, Tensor(a!) {word}) -> Tensor(a!)", f"mine::out_{i}"),
            Entry(f"ops::{word}(Tensor x) -> Tensor", f"mine::operator_{i}"),
            Entry(f"ops::{word}.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", f"mine::operator_out_{i}"),
            Entry(f"ops::overload_{i}.{word}(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", f"mine::overload_{i}"),
            Entry(f"{word}::operator.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", f"mine::namespace_{i}"),
        ]
        if i >= len(OWN_WORDS):
            continue
        entries += [
            Entry(f"ops::kernel_{i}.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", f"mine::{word}"),
            Entry(f"ops::outer_{i}.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", f"{word}::kernel_{i}"),
            Entry(f"ops::inner_{i}.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", f"mine::{word}::kernel_{i}"),
            Entry(f"ops::lone_{i}.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", word),
        ]
    return entries


def library(generator: random.Random, words: Sequence[str], size: int) -> list[Entry]:
    """Returns entries of a few words, so that names clash. Kernels have the module's own words only, as in `sweep`."""
    own = generator.sample(OWN_WORDS, 3)
    own += [f"{word}{generator.choice(('_', '__', '__' + own[0]))}" for word in own[:2]]
    few = [*own, *generator.sample(words, min(1, len(words)))]

    def name(plain: str) -> str:
        return generator.choice(own if plain in ("mine", "add_impl") else few) if generator.random() < 0.6 else plain

    entries: dict[str, Entry] = {}
    for _ in range(size):
        namespace, operator, overload, outer, kernel, argument = map(name, _PLAIN)
        arguments, out = generator.choice(_SIGNATURES)
        names = list(dict.fromkeys([argument, name("out"), *generator.sample(few, len(few)), "b", "c", "d", "e"]))
        if out:
            schema = f"({arguments}, *, {out}) -> {out.rpartition(' ')[0]}".format(*names)
            full_name = f"{namespace}::{operator}.{overload}"
        else:
            schema = f"({arguments}) -> Tensor".format(*names)
            full_name = f"{namespace}::{operator}"
        inner = (outer, "native", kernel, generator.choice(own))
        parts = generator.choice(((kernel,), (outer, kernel), (outer, kernel), inner))
        entries[full_name] = Entry(f"{full_name}{schema}", "::".join(parts))
    return list(entries.values())
