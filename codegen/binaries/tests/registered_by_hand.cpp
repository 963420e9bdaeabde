// Registers a kernel, and a backend, by calls of one's own, for object_files_test.py.

#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/kernel/operator_registry.h>

namespace {

using executorch::runtime::Backend;
using executorch::runtime::EValue;
using executorch::runtime::Kernel;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::Span;

const Kernel kKernels[] = {Kernel("my_ops::by_hand.out", [](KernelRuntimeContext&, Span<EValue*>) {})};

}  // namespace

[[maybe_unused]] const auto kKernelsAreRegistered = executorch::runtime::register_kernels({kKernels, 1});
[[maybe_unused]] const auto kBackendIsRegistered = executorch::runtime::register_backend({"MyBackend", nullptr});
