#include <optional>
#include <string_view>
#include <tuple>

#include "kernels/gemm/float_panels.h"
#include "kernels/optimized/dim_orders.h"
#include "kernels/recurrent/network.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Whether a weight has the panels of `columns` columns with a row for each of `k` features. Without ET_LOG, nothing
/// reads `what`.
bool check_recurrent_panels(const Tensor& weight, int64_t columns, int64_t k, [[maybe_unused]] const char* what) {
  ET_CHECK_OR_RETURN_FALSE(
      has_panels(weight, 0, columns, k, /*has_pairs=*/false) && is_contiguous(weight),
      "the weights of the %s are not in panels of %d columns for %d features: the input has another number of "
      "features, "
      "or the program was exported by another version of rules_executorch; then export the program again",
      what, int(kFloatPanelColumns), int(k));
  return true;
}

/// Whether the weights are those of the network.
bool check_recurrent_weights(const RecurrentShape& shape, const TensorList& weights, ScalarType type) {
  const int64_t count = shape.layers * shape.directions * shape.weights_of_direction();
  ET_CHECK_OR_RETURN_FALSE(static_cast<int64_t>(weights.size()) == count, "expected %d weights, got %d", int(count),
                           int(weights.size()));
  const ScalarType bias_type = type == ScalarType::Double ? type : ScalarType::Float;
  for (int64_t i = 0; i < count; i += shape.weights_of_direction()) {
    const int64_t layer = i / shape.weights_of_direction() / shape.directions;
    const Tensor* weight = weights.begin() + i;
    ET_LOG_AND_RETURN_IF_FALSE(check_recurrent_panels(*weight, shape.columns(), shape.inputs_of(layer), "input"));
    ET_LOG_AND_RETURN_IF_FALSE(weight->scalar_type() == type);
    ++weight;
    ET_LOG_AND_RETURN_IF_FALSE(check_recurrent_panels(*weight, shape.columns(), shape.state(), "state"));
    ET_LOG_AND_RETURN_IF_FALSE(weight->scalar_type() == type);
    if (shape.has_biases) {
      ++weight;
      ET_CHECK_OR_RETURN_FALSE(weight->dim() == 3 && weight->size(0) == shape.blocks() &&
                                   weight->size(1) == shape.biases() && weight->size(2) == kUnits &&
                                   is_contiguous(*weight) && weight->scalar_type() == bias_type,
                               "the biases are not in blocks of %d units", int(kUnits));
    }
    if (shape.projection > 0) {
      ++weight;
      ET_LOG_AND_RETURN_IF_FALSE(check_recurrent_panels(*weight, shape.projection, shape.hidden, "projection"));
      ET_LOG_AND_RETURN_IF_FALSE(weight->scalar_type() == type);
    }
  }
  return true;
}

/// Whether an initial state, if given, has a row of `features` elements for each direction of a layer and each row of
/// the batch.
bool check_state(const RecurrentShape& shape, const std::optional<Tensor>& state, int64_t features, ScalarType type) {
  ET_CHECK_OR_RETURN_FALSE(
      !state.has_value() ||
          (state->dim() == 3 && state->size(0) == shape.layers * shape.directions && state->size(1) == shape.batch &&
           state->size(2) == features && state->scalar_type() == type),
      "the initial state does not have the shape [%d, %d, %d] and the dtype of the input",
      int(shape.layers * shape.directions), int(shape.batch), int(features));
  return true;
}

/// Checks the input and sets the sizes of `shape` that the input determines.
bool check_sequence(const Tensor& in, RecurrentShape& shape) {
  const bool has_sizes = shape.hidden > 0 && shape.layers > 0 && shape.projection >= 0;
  ET_CHECK_OR_RETURN_FALSE(has_sizes, "a network of %d layers of %d hidden units", int(shape.layers),
                           int(shape.hidden));
  ET_CHECK_OR_RETURN_FALSE(in.dim() == 3, "the input has %d dimensions, not 3", int(in.dim()));
  shape.steps = in.size(shape.batch_first ? 1 : 0);
  shape.batch = in.size(shape.batch_first ? 0 : 1);
  shape.inputs = in.size(2);
  ET_CHECK_OR_RETURN_FALSE(shape.steps > 0, "the input is a sequence of no steps");
  ET_CHECK_OR_RETURN_FALSE(shape.inputs > 0, "the input has no features");
  return true;
}

bool resize_to_rows(Tensor& out, int64_t first, int64_t second, int64_t features) {
  const Tensor::SizesType sizes[] = {static_cast<Tensor::SizesType>(first), static_cast<Tensor::SizesType>(second),
                                     static_cast<Tensor::SizesType>(features)};
  return resize_to(out, {sizes, 3});
}

/// Runs a network. On an error, the context has it.
template <const char* op_name, typename Fits>
void run_network(KernelRuntimeContext& ctx, RecurrentShape shape, const Tensor& in, const std::optional<Tensor>& h_0,
                 const std::optional<Tensor>& c_0, const TensorList& weights, Tensor& out, Tensor& h_n, Tensor* c_n,
                 const Fits& dim_orders_fit) {
  // Check
  const ScalarType type = in.scalar_type();
  ET_KERNEL_CHECK(ctx, is_supported(type) && isFloatingType(type), InvalidArgument, );
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out, h_n), InvalidArgument, );
  ET_KERNEL_CHECK(ctx, c_n == nullptr || tensors_have_same_dtype(in, *c_n), InvalidArgument, );
  ET_KERNEL_CHECK(ctx, check_sequence(in, shape), InvalidArgument, );
  ET_KERNEL_CHECK(ctx, check_recurrent_weights(shape, weights, type), InvalidArgument, );
  ET_KERNEL_CHECK(ctx, check_state(shape, h_0, shape.state(), type), InvalidArgument, );
  ET_KERNEL_CHECK(ctx, check_state(shape, c_0, shape.hidden, type), InvalidArgument, );

  // Resize
  const int64_t states = shape.layers * shape.directions;
  ET_KERNEL_CHECK(ctx, resize_to_rows(out, in.size(0), in.size(1), shape.features()), InvalidArgument, );
  ET_KERNEL_CHECK(ctx, resize_to_rows(h_n, states, shape.batch, shape.state()), InvalidArgument, );
  ET_KERNEL_CHECK(ctx, c_n == nullptr || resize_to_rows(*c_n, states, shape.batch, shape.hidden), InvalidArgument, );
  ET_KERNEL_CHECK(ctx, dim_orders_fit(), InvalidArgument, );
  if (shape.batch == 0) {
    return;
  }

  // Compute
  ET_SWITCH_FLOATHBF16_TYPES(type, ctx, op_name, CTYPE, [&] {
    const bool has_memory = RecurrentNetwork<CTYPE>(ctx, shape, weights).compute(in, h_0, c_0, out, h_n, c_n);
    ET_KERNEL_CHECK_MSG(ctx, has_memory, MemoryAllocationFailed, , "not enough temporary memory for recurrent layers");
  });
}

}  // namespace

std::tuple<Tensor&, Tensor&> packed_gru_out(KernelRuntimeContext& ctx, const Tensor& in,
                                            const std::optional<Tensor>& h_0, TensorList weights, int64_t hidden_size,
                                            int64_t num_layers, bool has_biases, bool bidirectional, bool batch_first,
                                            Tensor& out, Tensor& h_n) {
  ET_DEFINE_OPERATOR_NAME(op_name, "packed_gru.out");
  const RecurrentShape shape{Cell::kGru, 0,          0, 0, hidden_size, 0, num_layers, bidirectional ? 2 : 1,
                             has_biases, batch_first};
  run_network<op_name>(ctx, shape, in, h_0, std::nullopt, weights, out, h_n, nullptr,
                       [&] { return packed_gru_dim_orders_fit(in, h_0, out, h_n); });
  return {out, h_n};
}

std::tuple<Tensor&, Tensor&, Tensor&> packed_lstm_out(KernelRuntimeContext& ctx, const Tensor& in,
                                                      const std::optional<Tensor>& h_0,
                                                      const std::optional<Tensor>& c_0, TensorList weights,
                                                      int64_t hidden_size, int64_t proj_size, int64_t num_layers,
                                                      bool has_biases, bool bidirectional, bool batch_first,
                                                      Tensor& out, Tensor& h_n, Tensor& c_n) {
  ET_DEFINE_OPERATOR_NAME(op_name, "packed_lstm.out");
  const RecurrentShape shape{Cell::kLstm,           0,          0,          0, hidden_size, proj_size, num_layers,
                             bidirectional ? 2 : 1, has_biases, batch_first};
  run_network<op_name>(ctx, shape, in, h_0, c_0, weights, out, h_n, &c_n,
                       [&] { return packed_lstm_dim_orders_fit(in, h_0, c_0, out, h_n, c_n); });
  return {out, h_n, c_n};
}

std::tuple<Tensor&, Tensor&> packed_rnn_out(KernelRuntimeContext& ctx, const Tensor& in,
                                            const std::optional<Tensor>& h_0, TensorList weights, int64_t hidden_size,
                                            int64_t num_layers, bool has_biases, bool bidirectional, bool batch_first,
                                            std::string_view nonlinearity, Tensor& out, Tensor& h_n) {
  ET_DEFINE_OPERATOR_NAME(op_name, "packed_rnn.out");
  std::tuple<Tensor&, Tensor&> results(out, h_n);
  ET_KERNEL_CHECK_MSG(ctx, nonlinearity == "tanh" || nonlinearity == "relu", InvalidArgument, results,
                      "the nonlinearity is neither tanh nor relu");
  const RecurrentShape shape{nonlinearity == "tanh" ? Cell::kTanh : Cell::kRelu,
                             0,
                             0,
                             0,
                             hidden_size,
                             0,
                             num_layers,
                             bidirectional ? 2 : 1,
                             has_biases,
                             batch_first};
  run_network<op_name>(ctx, shape, in, h_0, std::nullopt, weights, out, h_n, nullptr,
                       [&] { return packed_rnn_dim_orders_fit(in, h_0, out, h_n); });
  return results;
}

}  // namespace torch::executor::native
