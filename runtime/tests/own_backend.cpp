// A backend of a user. It runs aten::relu, the only operator that own_backend_model.py delegates.

#include <executorch/runtime/backend/interface.h>

#include <algorithm>

namespace {

using executorch::aten::ArrayRef;
using executorch::runtime::BackendExecutionContext;
using executorch::runtime::BackendInitContext;
using executorch::runtime::CompileSpec;
using executorch::runtime::DelegateHandle;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::FreeableBuffer;
using executorch::runtime::Result;
using executorch::runtime::Span;

class ReluBackend final : public executorch::runtime::BackendInterface {
 public:
  bool is_available() const override { return true; }

  Result<DelegateHandle*> init(BackendInitContext&, FreeableBuffer*, ArrayRef<CompileSpec>) const override {
    return nullptr;
  }

  Error execute(BackendExecutionContext&, DelegateHandle*, Span<EValue*> arguments) const override {
    const auto& in = arguments[0]->toTensor();
    auto& out = arguments[1]->toTensor();
    std::transform(in.const_data_ptr<float>(), in.const_data_ptr<float>() + in.numel(), out.mutable_data_ptr<float>(),
                   [](float x) { return std::max(x, 0.0f); });
    return Error::Ok;
  }
};

ReluBackend backend;

}  // namespace

[[maybe_unused]] const auto kIsRegistered = executorch::runtime::register_backend({"ReluBackend", &backend});
