// Reads little-endian values from untrusted bytes, one after the other; a read past the end is an error that says where.
#pragma once

#include <bit>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "core/error.h"

namespace headrace {

static_assert(std::endian::native == std::endian::little, "checkpoints are read in place, and they are little-endian");

class ByteReader {
 public:
  // `where` names the file in errors.
  ByteReader(std::span<const std::byte> bytes, std::string_view where) : bytes_(bytes), where_(where) {}

  size_t position() const { return at_; }
  size_t remaining() const { return bytes_.size() - at_; }

  // `what` names the thing read in errors.
  template <typename T>
  T take(std::string_view what) {
    T value;
    std::memcpy(&value, take_bytes(sizeof(T), what).data(), sizeof(T));
    return value;
  }
  std::span<const std::byte> take_bytes(uint64_t count, std::string_view what) {
    if (count > remaining()) {
      invalid("{}: {} at byte {} has {} bytes, but the file ends after {} more; is it cut short or damaged? Fetch it again", where_,
              printable(what), at_, count, remaining());
    }
    const std::span<const std::byte> part = bytes_.subspan(at_, size_t(count));
    at_ += size_t(count);
    return part;
  }

 private:
  std::span<const std::byte> bytes_;
  std::string_view where_;
  size_t at_ = 0;
};

inline std::string_view as_text(std::span<const std::byte> bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

}  // namespace headrace
