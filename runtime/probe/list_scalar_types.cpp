// Prints the runtime's dtypes and their numbers, such as "Float 6".

#include <executorch/runtime/core/portable_type/scalar_type.h>

#include <cstdio>

int main() {
#define PRINT(type, name) \
  std::printf("%s %d\n", #name, static_cast<int>(executorch::runtime::etensor::ScalarType::name));
  ET_FORALL_SCALAR_TYPES(PRINT)
#undef PRINT
  return 0;
}
