// With the source, so that this file has all code of the product.
#include "kernels/gemm/integer_product.cpp"
#include "tools/bench/highway/routines.h"

using namespace rules_executorch::kernels;

void multiply_bytes(const char* rows_data, const char* panels, const float* scales, const float* offsets, char* out,
                    int64_t rows, int64_t k, int64_t columns) {
  const SumConversion conversion = {scales, offsets, {0, 255}, /*table=*/nullptr, ScalarType::Byte};
  multiply_by_weights(
      {rows_data, k, rows, /*row_bits=*/0, panels, k * kPanelColumns, columns, k, conversion, out, columns},
      /*channel=*/0);
}
