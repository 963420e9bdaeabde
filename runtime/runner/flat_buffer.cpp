#include "runtime/runner/flat_buffer.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace rules_executorch {

void FlatBuffer::Fail(const char* format, ...) const {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  refuse_(path_, place_ + text);
  std::abort();
}

void FlatBuffer::Need(size_t at, size_t count) const {
  if (at > size_ || count > size_ - at) {
    Fail("an offset leads out of it, to byte %zu of %zu", at, size_);
  }
}

size_t FlatBuffer::Follow(size_t at) const { return at + Read<uint32_t>(at); }

size_t FlatBuffer::Field(size_t table, int number) const {
  // A layout, before or after the table, has the offsets of the fields: its size, the size of the table, then the
  // offsets.
  const int64_t layout = static_cast<int64_t>(table) - Read<int32_t>(table);
  if (layout < 0) {
    Fail("an offset leads out of it, before its beginning");
  }
  const size_t slot = 4 + 2 * static_cast<size_t>(number);
  if (slot + 2 > Read<uint16_t>(static_cast<size_t>(layout))) {
    return 0;
  }
  const uint16_t offset = Read<uint16_t>(static_cast<size_t>(layout) + slot);
  return offset == 0 ? 0 : table + offset;
}

size_t FlatBuffer::Child(size_t table, int number) const {
  const size_t field = Field(table, number);
  if (field == 0) {
    Fail("a part is missing of the table at byte %zu", table);
  }
  return Follow(field);
}

FlatBuffer::Vector FlatBuffer::Elements(size_t table, int number, size_t element_size) const {
  const size_t field = Field(table, number);
  if (field == 0) {
    return {0, 0};
  }
  const size_t at = Follow(field);
  const Vector vector = {at + sizeof(uint32_t), Read<uint32_t>(at)};
  Need(vector.begin, vector.size * element_size);
  if (vector.size > elements_left_) {
    Fail("it names more parts than it can hold");
  }
  elements_left_ -= vector.size;
  return vector;
}

std::string_view FlatBuffer::Text(size_t table, int number) const {
  const size_t at = Child(table, number);
  const size_t size = Read<uint32_t>(at);
  Need(at + sizeof(uint32_t), size + 1);
  const auto* text = reinterpret_cast<const char*>(bytes_ + at + sizeof(uint32_t));
  if (text[size] != '\0') {
    Fail("the text at byte %zu has no end", at);
  }
  return {text, size};
}

}  // namespace rules_executorch
