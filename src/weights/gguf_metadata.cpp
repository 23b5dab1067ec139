// Looking metadata up. The file was checked when it was read, so values are where they are said to be.
#include <cstring>

#include "core/error.h"
#include "weights/byte_reader.h"
#include "weights/gguf.h"
#include "weights/gguf_types.h"

namespace headrace {
namespace {

template <typename T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

bool is_integer(GgufType type) { return type != GgufType::kF32 && type != GgufType::kF64 && bytes_of(type) > 0 && type != GgufType::kBool; }
bool is_number(GgufType type) { return is_integer(type) || type == GgufType::kF32 || type == GgufType::kF64; }

int64_t integer_at(GgufType type, const std::byte* at) {
  switch (type) {
    case GgufType::kU8: return load<uint8_t>(at);
    case GgufType::kI8: return load<int8_t>(at);
    case GgufType::kU16: return load<uint16_t>(at);
    case GgufType::kI16: return load<int16_t>(at);
    case GgufType::kU32: return load<uint32_t>(at);
    case GgufType::kI32: return load<int32_t>(at);
    default: return load<int64_t>(at);
  }
}

double real_at(GgufType type, const std::byte* at) {
  if (type == GgufType::kF32) return load<float>(at);
  return type == GgufType::kF64 ? load<double>(at) : double(integer_at(type, at));
}

template <typename T, typename At>
std::vector<T> elements(const GgufValue& array, At at) {
  std::vector<T> values(array.count);
  for (size_t i = 0; i < values.size(); ++i) values[i] = at(array.element, array.bytes.data() + i * bytes_of(array.element));
  return values;
}

}  // namespace

const GgufValue* GgufFile::find(std::string_view key) const {
  const auto it = by_key_.find(key);
  return it == by_key_.end() ? nullptr : &metadata_[it->second];
}

const GgufValue& GgufFile::expect(const GgufValue& value, bool fits, std::string_view wanted) const {
  if (!fits) {
    const bool array = value.type == GgufType::kArray;
    invalid("{}: metadata '{}' is {}{}, wanted {}", where_, printable(value.key), array ? "an array of " : "",
            name(array ? value.element : value.type), wanted);
  }
  return value;
}

std::optional<std::string_view> GgufFile::string(std::string_view key) const {
  const GgufValue* value = find(key);
  if (!value) return std::nullopt;
  return as_text(expect(*value, value->type == GgufType::kString, "a string").bytes);
}

std::optional<int64_t> GgufFile::integer(std::string_view key) const {
  const GgufValue* value = find(key);
  if (!value) return std::nullopt;
  expect(*value, is_integer(value->type), "an integer");
  const int64_t number = integer_at(value->type, value->bytes.data());
  expect(*value, value->type != GgufType::kU64 || number >= 0, "an integer below 2^63");
  return number;
}

std::optional<double> GgufFile::real(std::string_view key) const {
  const GgufValue* value = find(key);
  if (!value) return std::nullopt;
  return real_at(expect(*value, is_number(value->type), "a number").type, value->bytes.data());
}

std::optional<bool> GgufFile::boolean(std::string_view key) const {
  const GgufValue* value = find(key);
  if (!value) return std::nullopt;
  return load<uint8_t>(expect(*value, value->type == GgufType::kBool, "a bool").bytes.data()) != 0;
}

std::optional<std::vector<std::string_view>> GgufFile::strings(std::string_view key) const {
  const GgufValue* value = find(key);
  if (!value) return std::nullopt;
  expect(*value, value->type == GgufType::kArray && (value->element == GgufType::kString || value->count == 0), "an array of strings");
  std::vector<std::string_view> values(value->count);
  const std::byte* at = value->bytes.data();
  for (std::string_view& text : values) {  // the lengths were checked by read
    const uint64_t length = version_ == 1 ? load<uint32_t>(at) : load<uint64_t>(at);
    at += version_ == 1 ? 4 : 8;
    text = {reinterpret_cast<const char*>(at), size_t(length)};
    at += length;
  }
  return values;
}

std::optional<std::vector<int64_t>> GgufFile::integers(std::string_view key) const {
  const GgufValue* value = find(key);
  if (!value) return std::nullopt;
  return elements<int64_t>(expect(*value, value->type == GgufType::kArray && is_integer(value->element), "an array of integers"),
                           integer_at);
}

std::optional<std::vector<double>> GgufFile::reals(std::string_view key) const {
  const GgufValue* value = find(key);
  if (!value) return std::nullopt;
  return elements<double>(expect(*value, value->type == GgufType::kArray && is_number(value->element), "an array of numbers"), real_at);
}

bool GgufFile::is_array(std::string_view key) const {
  const GgufValue* value = find(key);
  return value && value->type == GgufType::kArray;
}

std::optional<uint64_t> GgufFile::array_size(std::string_view key) const {
  const GgufValue* value = find(key);
  if (!value) return std::nullopt;
  return expect(*value, value->type == GgufType::kArray, "an array").count;
}

}  // namespace headrace
