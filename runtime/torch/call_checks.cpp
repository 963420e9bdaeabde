#include "runtime/torch/call_checks.h"

#include <ATen/core/jit_type.h>
#include <c10/util/Exception.h>

#include <cstddef>
#include <string>

#include "runtime/torch/torch_values.h"

namespace rules_executorch {
namespace {

using c10::FunctionSchema;
using c10::IValue;

std::string FakeFix(const FunctionSchema& schema, const std::string& cause) {
  return "  Likely cause: " + cause + "\n  Fix: write the fake, @torch.library.register_fake(\"" + schema.name() +
         (schema.overload_name().empty() ? "" : "." + schema.overload_name()) + "\", allow_override=True)";
}

void CheckMutation(const OperatorKernels& op, const FunctionSchema& schema, const TorchCall& call) {
  const std::string name = call.UndeclaredMutation();
  TORCH_CHECK(name.empty(), schema.operator_name(), " (", op.location, "): the kernel of ", op.name, " writes to '",
              name, "', which is not declared\n  Likely cause: the schema lacks an annotation\n",
              "  Fix: declare the argument as Tensor(a!) ", name, ", with a letter of its own, or do not write to it");
}

}  // namespace

void CheckHasFake(const OperatorKernels& op, const FunctionSchema& schema) {
  for (const c10::Argument& returned : schema.returns()) {
    TORCH_CHECK_NOT_IMPLEMENTED(
        returned.type()->kind() == c10::TypeKind::TensorType, schema.operator_name(), " (", op.location,
        "): it returns ", returned.type()->str(), ", which is not known without the values of its arguments\n",
        FakeFix(schema, "only a tensor's shape and dtype can be found out ahead, by calling the kernel"));
  }
}

void CheckFake(const OperatorKernels& op, const FunctionSchema& schema, at::ArrayRef<IValue> arguments,
               const TorchCall& call, CallSetting setting) {
  CheckMutation(op, schema, call);
  for (const Values values : {Values::kOnes, Values::kMixed}) {
    setting.values = values;
    TorchCall other(op, schema, arguments, setting);
    if (!other.Run().ok()) continue;
    CheckMutation(op, schema, other);
    for (size_t i = 0; i < call.resizable().size(); ++i) {
      TORCH_CHECK_NOT_IMPLEMENTED(
          SizesOf(call.resizable()[i]->tensor()) == SizesOf(other.resizable()[i]->tensor()), schema.operator_name(),
          " (", op.location, "): the shape of what it returns depends on the values of its arguments\n",
          FakeFix(schema, "the operator is like torch.nonzero, whose result is as long as its argument says"));
    }
  }
}

void CheckShapesKnown(const OperatorKernels& op, const FunctionSchema& schema, at::ArrayRef<IValue> arguments,
                      const TorchCall& call, CallSetting setting) {
  bool all_known = true;
  for (size_t i = 0; i < call.fresh().size(); ++i) {
    if (call.fresh()[i]->was_resized()) continue;
    all_known = false;
    Sizes& sizes = setting.fresh_sizes[i];
    for (SizesType& size : sizes) ++size;
    if (sizes.empty()) sizes = {2};
  }
  if (all_known) return;
  TorchCall other(op, schema, arguments, setting);
  if (!other.Run().ok()) return;
  bool is_unknown = false;
  for (size_t i = 0; i < call.fresh().size(); ++i) {
    is_unknown |= SizesOf(call.fresh()[i]->tensor()) != SizesOf(other.fresh()[i]->tensor());
  }
  TORCH_CHECK(!is_unknown, schema.operator_name(), " (", op.location, "): the kernel of ", op.name,
              " takes results of any shape, so that theirs is not known\n",
              "  Likely cause: the kernel does not resize its out arguments\n",
              "  Fix: call executorch::runtime::resize_tensor(out, sizes) in the kernel before it writes, or define \"",
              schema.name(), "\" by hand before this library is loaded");
}

void RefuseCall(const OperatorKernels& op, const FunctionSchema& schema, const Outcome& outcome,
                const std::vector<at::ScalarType>& dtypes) {
  std::string offered;
  for (const at::ScalarType dtype : dtypes) offered += (offered.empty() ? "" : ", ") + std::string(toString(dtype));
  if (op.num_fresh > 0) offered = "\n  It was called with results of the dtypes " + offered + "; this is of the first.";
  TORCH_CHECK(false, schema.operator_name(), " (", op.location, "): the kernel of ", op.name, " refused the call, ",
              executorch::runtime::to_string(outcome.error), outcome.log.empty() ? "" : ": ", outcome.log, offered,
              "\n  Likely cause: the arguments are none that the kernel handles; a program with them would fail, too",
              "\n  Fix: call it with others, or extend the kernel");
}

}  // namespace rules_executorch
