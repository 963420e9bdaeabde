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

/// An elementwise function with its types erased: `call(function, out, inputs, n)` computes `n` contiguous results from
/// contiguous arguments.
struct ElementwiseFunction {
  using Call = void (*)(const void* function, void* out, const void* const* inputs, int64_t n);

  Call call;
  const void* function;
  ScalarType result_type;
  const ScalarType* argument_types;
  int argument_count;
};

/// Applies `function` to `inputs`, each of out's shape. See `elementwise`. It uses seven blocks of stack and
/// about 2 KiB more: 16 KiB in all, and 6 KiB with the smallest block_size.
void apply_elementwise(const ElementwiseFunction& function, const StridedView& out, const ConstStridedView* inputs);

/// A function for which `elementwise` uses wider vectors where the processor has them (see `wide_vectorized_for`):
/// because its calculation is long, or because the other vectors lack an instruction. It is KERNELS_ALWAYS_INLINE.
template <typename Function>
struct Wide : Function {
  static constexpr bool kWide = true;
};
template <typename Function>
inline Wide<Function> wide(const Function& function) {
  return {function};
}

namespace internal {

/// Whether a function says that it is one for wide vectors.
template <typename Function, typename = void>
constexpr bool kIsWide = false;
template <typename Function>
constexpr bool kIsWide<Function, std::void_t<decltype(Function::kWide)>> = Function::kWide;

/// Whether wide vectors serve results of this type. Doubles have C's functions, and small integers no shifts.
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

/// A function of elements.
template <typename Function, typename Class, typename Result, typename... Arguments>
struct ElementwiseAdapter<Function, Result (Class::*)(Arguments...) const>
    : TypedElementwiseAdapter<Function, Result, Arguments...> {};

/// A function of blocks.
template <typename Function, typename Result, typename... Arguments>
struct ElementwiseAdapter<Function, void (Function::*)(int64_t, Result*, const Arguments*...) const>
    : TypedElementwiseAdapter<Function, Result, Arguments...> {};

}  // namespace internal

/// Computes `out = function(inputs...)` for every element, with `inputs` broadcast to out's shape, whatever their dim
/// orders. The types in function's signature decide where to calculate: inputs are converted to the types of its
/// parameters, and its result to out's dtype, in blocks, so that `function` is compiled once per compute type only:
///
///     elementwise([](CTYPE x, CTYPE y) -> CTYPE { return x * y; }, out, a, b);
///
/// A function that has its own loop takes the number of elements, and pointers to results and arguments:
///
///     elementwise([](int64_t n, CTYPE* results, const CTYPE* x) { math::sin(n, results, x); }, out, in);
///
/// Large outputs are computed on several threads (see `parallel_for`), which share `function`.
///
/// `out` has its final shape, and dtypes are ones that kernels handle. Each of `out` and `inputs` is a tensor or a
/// view.
template <typename Function, typename Out, typename... Inputs>
void elementwise(const Function& function, Out& out, const Inputs&... inputs) {
  using Adapter = internal::ElementwiseAdapter<Function, decltype(&Function::operator())>;
  static_assert(Adapter::kArgumentCount == sizeof...(Inputs), "one parameter of the function for each input");
  static_assert(Adapter::kArgumentCount < kMaxOperands, "a loop nest walks through kMaxOperands operands at most");
  const StridedView out_view(out);
  const ConstStridedView input_views[] = {ConstStridedView(inputs).broadcast_to(out_view)...};
  apply_elementwise({&Adapter::call, &function, Adapter::kResultType, Adapter::kArgumentTypes, Adapter::kArgumentCount},
                    out_view, input_views);
}

}  // namespace rules_executorch::kernels
