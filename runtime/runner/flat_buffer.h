#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace rules_executorch {

// Reads a FlatBuffer without trust in its content: out-of-range offsets and invalid values are refused. Tables and
// fields are positions in bytes from the start of the FlatBuffer.
class FlatBuffer {
 public:
  // Handles a damaged file. Must not return.
  using Refuse = void (*)(const std::string& path, const std::string& found);

  struct Vector {
    size_t begin;  // position of the first element
    size_t size;   // number of elements
  };

  FlatBuffer(const uint8_t* bytes, size_t size, const std::string& path, Refuse refuse)
      : bytes_(bytes), size_(size), path_(path), refuse_(refuse), elements_left_(size) {}

  // Refuses the file. The format is that of printf.
  [[noreturn]] [[gnu::format(printf, 2, 3)]] void Fail(const char* format, ...) const;

  // Sets the current place in the file, for errors: `method forward: `.
  void set_place(std::string place) { place_ = std::move(place); }

  size_t size() const { return size_; }

  template <typename T>
  T Read(size_t at) const {
    Need(at, sizeof(T));
    T number;
    std::memcpy(&number, bytes_ + at, sizeof(T));
    return number;
  }

  // The root table of the file.
  size_t Root() const { return Follow(0); }

  // The position of a field of a table. 0 if the table does not have the field.
  size_t Field(size_t table, int number) const;

  template <typename T>
  T Number(size_t table, int number) const {
    const size_t field = Field(table, number);
    return field == 0 ? T{0} : Read<T>(field);
  }

  // The table that is a field of another table.
  size_t Child(size_t table, int number) const;

  // A vector of elements of a given size. Empty if the table does not have it. The total number of elements is limited
  // to the number of bytes of the file, because a file with repeated references could otherwise take arbitrarily long.
  Vector Elements(size_t table, int number, size_t element_size) const;
  Vector Tables(size_t table, int number) const { return Elements(table, number, sizeof(uint32_t)); }

  template <typename T>
  T Element(const Vector& vector, size_t index) const {
    return Read<T>(vector.begin + index * sizeof(T));
  }
  size_t Table(const Vector& vector, size_t index) const { return Follow(vector.begin + index * sizeof(uint32_t)); }

  // A required text. Checks the terminating zero.
  std::string_view Text(size_t table, int number) const;

 private:
  void Need(size_t at, size_t count) const;
  size_t Follow(size_t at) const;

  const uint8_t* bytes_;
  size_t size_;
  const std::string& path_;
  Refuse refuse_;
  std::string place_;
  mutable size_t elements_left_;
};

}  // namespace rules_executorch
