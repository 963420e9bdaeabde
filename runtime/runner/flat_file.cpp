#include "runtime/runner/flat_file.h"

namespace rules_executorch {
namespace {

enum DataSegmentField { kDataSegmentOffset, kDataSegmentSize };

}  // namespace

std::vector<Range> ReadSegments(const FlatBuffer& file, const FlatBuffer::Vector& segments, uint64_t begin,
                                size_t size) {
  std::vector<Range> ranges;
  for (size_t i = 0; i < segments.size; ++i) {
    const size_t segment = file.Table(segments, i);
    const uint64_t offset = file.Number<uint64_t>(segment, kDataSegmentOffset);
    const uint64_t length = file.Number<uint64_t>(segment, kDataSegmentSize);
    if (begin < file.size() || begin > size || offset > size - begin || length > size - begin - offset) {
      file.Fail("segment %zu is not in the file", i);
    }
    ranges.push_back({static_cast<size_t>(begin + offset), static_cast<size_t>(length)});
  }
  return ranges;
}

Layout ReadLayout(const FlatBuffer& file, size_t table, int sizes, int dim_order, const std::string& what) {
  Layout layout{static_cast<executorch::aten::ScalarType>(file.Number<int8_t>(table, 0)), {}, {}};
  const FlatBuffer::Vector of_sizes = file.Elements(table, sizes, sizeof(int32_t));
  for (size_t i = 0; i < of_sizes.size; ++i) {
    layout.sizes.push_back(file.Element<int32_t>(of_sizes, i));
  }
  const FlatBuffer::Vector of_dim_order = file.Elements(table, dim_order, 1);
  for (size_t i = 0; i < of_dim_order.size; ++i) {
    layout.dim_order.push_back(file.Element<uint8_t>(of_dim_order, i));
  }
  const std::string mistake = Mistake(layout);
  if (!mistake.empty()) {
    file.Fail("%s %s", what.c_str(), mistake.c_str());
  }
  return layout;
}

}  // namespace rules_executorch
