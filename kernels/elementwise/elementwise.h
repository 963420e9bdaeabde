#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/math/vectorize.h"
#include "kernels/tensors/dtype.h"
#include "kernels/views/loop_nest.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// A type-erased elementwise function: `call(function, out, inputs, n)` computes `n` contiguous results from contiguous
/// arguments.
struct ElementwiseFunction {
  using Call = void (*)(const void* function, void* out, const void* const* inputs, int64_t n);

  Call call;
  const void* function;
  ScalarType result_type;
  const ScalarType* argument_types;
  int argument_count;
};

/// Applies `function` to `inputs`. All inputs have the shape of `out`. See `elementwise`. Needs seven blocks of stack
/// and about 2 KiB more: 16 KiB, or 6 KiB with the smallest block_size.
void apply_elementwise(const ElementwiseFunction& function, const StridedView& out, const ConstStridedView* inputs);

/// A function that `elementwise` calls with wider vectors if the processor has them (see `wide_vectorized_for`),
/// because the computation is long or because narrow vectors lack an instruction. The function must be
/// KERNELS_ALWAYS_INLINE.
template <typename Function>
struct Wide : Function {
  static constexpr bool kWide = true;
};
template <typename Function>
inline Wide<Function> wide(const Function& function) {
  return {function};
}

namespace internal {

/// Whether `Function` has a member kWide that is true.
template <typename Function, typename = void>
constexpr bool kIsWide = false;
template <typename Function>
constexpr bool kIsWide<Function, std::void_t<decltype(Function::kWide)>> = Function::kWide;

/// Whether wide vectors are used for this result type. Functions of doubles call C's functions. There are no vector
/// shifts of small integers.
template <typename Result>
constexpr bool kHasWideVectors = sizeof(Result) >= sizeof(float) && !std::is_same_v<Result, double>;

template <typename Function, typename Result, typename... Arguments>
struct TypedElementwiseAdapter {
  static constexpr ScalarType kResultType = CppTypeToScalarType<Result>::value;
  static constexpr ScalarType kArgumentTypes[] = {CppTypeToScalarType<Arguments>::value...};
  static constexpr int kArgumentCount = sizeof...(Arguments);

  static void call(const void* function, void* out, const void* const* inputs, int64_t n) {
    call(function, out, inputs, n, std::index_sequence_for<Arguments...>());
  }

  template <size_t... I>
  static void call(const void* function, void* out, const void* const* inputs, int64_t n, std::index_sequence<I...>) {
    call(*static_cast<const Function*>(function), static_cast<Result*>(out), n,
         static_cast<const Arguments*>(inputs[I])...);
  }

  static void call(const Function& function, Result* out, int64_t n, const Arguments*... inputs) {
    if constexpr (std::is_invocable_v<const Function&, int64_t, Result*, const Arguments*...>) {
      function(n, out, inputs...);
    } else if constexpr (kIsWide<Function> && kHasWideVectors<Result>) {
      wide_vectorized_for(n, [=](int64_t i) KERNELS_ALWAYS_INLINE { out[i] = function(inputs[i]...); });
    } else {
      vectorized_for(n, [=](int64_t i) KERNELS_ALWAYS_INLINE { out[i] = function(inputs[i]...); });
    }
  }
};

template <typename Function, typename Signature>
struct ElementwiseAdapter;

/// Adapts a function of elements.
template <typename Function, typename Class, typename Result, typename... Arguments>
struct ElementwiseAdapter<Function, Result (Class::*)(Arguments...) const>
    : TypedElementwiseAdapter<Function, Result, Arguments...> {};

/// Adapts a function of blocks.
template <typename Function, typename Result, typename... Arguments>
struct ElementwiseAdapter<Function, void (Function::*)(int64_t, Result*, const Arguments*...) const>
    : TypedElementwiseAdapter<Function, Result, Arguments...> {};

}  // namespace internal

/// Computes `out = function(inputs...)` for each element, for all dim orders. `inputs` are broadcast to the shape of
/// `out`. The parameter types of `function` are the dtypes of the computation: inputs are converted to these types, and
/// results to the dtype of `out`, one block at a time. `function` is therefore compiled only once for each compute
/// dtype:
///
///     elementwise([](CTYPE x, CTYPE y) -> CTYPE { return x * y; }, out, a, b);
///
/// A function with its own loop takes the number of elements, and pointers to results and arguments:
///
///     elementwise([](int64_t n, CTYPE* results, const CTYPE* x) { math::sin(n, results, x); }, out, in);
///
/// Large outputs are computed on several threads (see `parallel_for`), which share `function`.
///
/// `out` must have its final shape. All dtypes must be supported by kernels. `out` and `inputs` are tensors or views.
template <typename Function, typename Out, typename... Inputs>
void elementwise(const Function& function, Out& out, const Inputs&... inputs) {
  using Adapter = internal::ElementwiseAdapter<Function, decltype(&Function::operator())>;
  static_assert(Adapter::kArgumentCount == sizeof...(Inputs), "the function must have one parameter for each input");
  static_assert(Adapter::kArgumentCount < kMaxOperands, "a loop nest has at most kMaxOperands operands");
  const StridedView out_view(out);
  const ConstStridedView input_views[] = {ConstStridedView(inputs).broadcast_to(out_view)...};
  apply_elementwise({&Adapter::call, &function, Adapter::kResultType, Adapter::kArgumentTypes, Adapter::kArgumentCount},
                    out_view, input_views);
}

}  // namespace rules_executorch::kernels
