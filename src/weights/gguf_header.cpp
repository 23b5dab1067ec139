#include "weights/gguf_header.h"

#include <algorithm>

#include "core/dtype.h"
#include "weights/gguf_types.h"

namespace headrace {
namespace {

constexpr std::string_view kMagic = "GGUF";
constexpr uint32_t kNewestVersion = 3;
constexpr int kMaxArrayNesting = 4;

}  // namespace

GgufHeaderReader::GgufHeaderReader(std::span<const std::byte> bytes, const std::string& where) : in_(bytes, where), where_(where) {
  const std::string_view beginning = as_text(bytes.first(std::min(bytes.size(), kMagic.size())));
  if (beginning != kMagic) invalid("{}: is no GGUF file: it begins with '{}', wanted '{}'", where, printable(beginning), kMagic);
  in_.take_bytes(kMagic.size(), "the magic");
  version_ = in_.take<uint32_t>("the version");
  if ((version_ & 0xffff) == 0 && version_ != 0) {
    fail(ErrorCode::kUnsupported, "{}: is a big-endian GGUF file; only little-endian ones are read. Convert the model again", where);
  }
  if (version_ < 1 || version_ > kNewestVersion) {
    fail(ErrorCode::kUnsupported, "{}: GGUF version {} is not known; wanted 1 to {}", where, version_, kNewestVersion);
  }
}

uint64_t GgufHeaderReader::take_num_tensors() {
  return take_count("the number of tensors", length_bytes() + 4 + 4 + 8);  // name, number of axes, type, offset
}

uint64_t GgufHeaderReader::take_num_metadata() {
  return take_count("the number of metadata values", length_bytes() + 4 + 1);  // key, type, value
}

uint64_t GgufHeaderReader::take_count(std::string_view what, size_t least_bytes) {
  const uint64_t count = take_length(what);
  if (count > in_.remaining() / least_bytes) {
    invalid("{}: {} is {}, but only {} bytes follow; the file is damaged. Fetch it again", where_, printable(what), count, in_.remaining());
  }
  return count;
}

std::string_view GgufHeaderReader::take_string(std::string_view what) {
  const uint64_t length = take_length(what);
  return as_text(in_.take_bytes(length, what));
}

GgufType GgufHeaderReader::take_type(std::string_view key) {
  const uint32_t type = in_.take<uint32_t>(key);
  if (type > uint32_t(GgufType::kF64)) invalid("{}: metadata '{}' has unknown type {}; the file is damaged", where_, printable(key), type);
  return GgufType(type);
}

GgufValue GgufHeaderReader::take_metadata() {
  GgufValue value{.key = take_string("a metadata key")};
  value.type = take_type(value.key);
  if (value.type == GgufType::kArray) {
    value.element = take_type(value.key);
    value.count = take_count(value.key, least_bytes(value.element));
    value.bytes = take_elements(value.element, value.count, value.key, kMaxArrayNesting);
  } else if (value.type == GgufType::kString) {
    value.bytes = std::as_bytes(std::span(take_string(value.key)));
  } else {
    value.bytes = in_.take_bytes(bytes_of(value.type), value.key);
  }
  return value;
}

size_t GgufHeaderReader::least_bytes(GgufType element) const {
  if (element == GgufType::kString) return length_bytes();
  if (element == GgufType::kArray) return 4 + length_bytes();  // element type, count
  return bytes_of(element);
}

std::span<const std::byte> GgufHeaderReader::take_elements(GgufType element, uint64_t count, std::string_view key, int nesting_left) {
  if (element != GgufType::kString && element != GgufType::kArray) return in_.take_bytes(count * bytes_of(element), key);
  if (element == GgufType::kArray && nesting_left == 0) invalid("{}: metadata '{}' nests arrays too deeply", where_, printable(key));
  ByteReader start = in_;
  for (uint64_t i = 0; i < count; ++i) {
    if (element == GgufType::kString) {
      take_string(key);
    } else {
      const GgufType inner = take_type(key);
      take_elements(inner, take_count(key, least_bytes(inner)), key, nesting_left - 1);
    }
  }
  return start.take_bytes(in_.position() - start.position(), key);
}

GgufHeaderReader::TensorEntry GgufHeaderReader::take_tensor() {
  TensorEntry entry;
  entry.tensor.name = take_string("a tensor's name");
  const std::string& tensor = entry.tensor.name;
  const uint32_t rank = in_.take<uint32_t>(tensor);
  if (rank > kMaxRank) invalid("{}: tensor '{}' has {} axes, at most {} are possible", where_, printable(tensor), rank, kMaxRank);
  std::vector<int64_t> sizes(rank);
  for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) *size = int64_t(take_length(tensor));
  const uint32_t type = in_.take<uint32_t>(tensor);
  const std::optional<DType> dtype = ggml_dtype(type);
  if (!dtype) {
    fail(ErrorCode::kUnsupported, "{}: tensor '{}' has element type {} ({}), which is not supported. Take the model in one of {}", where_,
         printable(tensor), type, ggml_type_name(type), supported_ggml_types());
  }
  const std::optional<int64_t> bytes = checked_bytes(*dtype, sizes);
  if (!bytes) {
    invalid("{}: tensor '{}' has sizes [{}], which are impossible for type {} (blocks of {})", where_, printable(tensor),
            fmt::join(sizes, ", "), headrace::name(*dtype), info(*dtype).block_elements);
  }
  entry.tensor.dtype = *dtype;
  entry.tensor.sizes = Sizes(sizes);
  entry.bytes = uint64_t(*bytes);
  entry.offset = in_.take<uint64_t>(tensor);
  return entry;
}

}  // namespace headrace
