// A protocol buffer's fields, one after another: as much of the format as SentencePiece's files need. Every length is checked.
#pragma once

#include <bit>
#include <cstring>
#include <string_view>

#include "core/error.h"

namespace headrace {

struct ProtoField {
  uint32_t number = 0;
  uint64_t value = 0;      // of a varint, or the bits of a fixed32 or fixed64
  std::string_view bytes;  // of a length-delimited field

  float as_float() const { return std::bit_cast<float>(static_cast<uint32_t>(value)); }
  bool as_bool() const { return value != 0; }
  int64_t as_integer() const { return static_cast<int64_t>(value); }
};

class ProtoReader {
 public:
  ProtoReader(std::string_view bytes, std::string_view where) : bytes_(bytes), where_(where) {}

  // False at the end. Throws Error(kInvalidArgument) on a damaged message.
  bool next(ProtoField& field) {
    if (at_ == bytes_.size()) return false;
    const uint64_t tag = varint();
    field = {.number = static_cast<uint32_t>(tag >> 3)};
    if (field.number == 0 || tag >> 32 != 0) damaged("a field without a number");
    switch (tag & 7) {
      case 0: field.value = varint(); break;
      case 1: field.value = fixed<uint64_t>(); break;
      case 2: field.bytes = take(varint()); break;
      case 5: field.value = fixed<uint32_t>(); break;
      default: damaged("an unknown wire type");
    }
    return true;
  }

 private:
  [[noreturn]] void damaged(std::string_view what) const { invalid("{}: damaged protocol buffer: {} at byte {}", where_, what, at_); }

  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    damaged("a number of more than ten bytes");
  }

  template <typename T>
  T fixed() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

  std::string_view take(uint64_t size) {
    if (size > bytes_.size() - at_) damaged("a length past the end");
    const auto part = bytes_.substr(at_, size);
    at_ += size;
    return part;
  }

  std::string_view bytes_, where_;
  size_t at_ = 0;
};

}  // namespace headrace
