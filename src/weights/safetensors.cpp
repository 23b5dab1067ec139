#include "weights/safetensors.h"

#include <algorithm>

#include "core/dtype.h"
#include "core/json.h"
#include "weights/byte_reader.h"

namespace headrace {
namespace {

constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the format's own limit

struct ElementType {
  std::string_view name;
  int bytes;  // of an element; 0 where elements are smaller than a byte
  std::optional<DType> dtype = std::nullopt;
};
constexpr ElementType kElementTypes[] = {
    {"F32", 4, DType::kF32},
    {"F16", 2, DType::kF16},
    {"BF16", 2, DType::kBF16},
    {"I64", 8, DType::kI64},
    {"I32", 4, DType::kI32},
    {"I8", 1, DType::kI8},
    {"U8", 1, DType::kU8},
    {"BOOL", 1, DType::kBool},
    {"F64", 8},
    {"I16", 2},
    {"U16", 2},
    {"U32", 4},
    {"U64", 8},
    {"F8_E4M3", 1},
    {"F8_E5M2", 1},
    {"F8_E8M0", 1},
    {"F8_E4M3FNUZ", 1},
    {"F8_E5M2FNUZ", 1},
    {"C64", 8},
    {"F6_E2M3", 0},
    {"F6_E3M2", 0},
    {"F4", 0},
};

const ElementType* find_element_type(std::string_view name) {
  for (const ElementType& type : kElementTypes)
    if (type.name == name) return &type;
  return nullptr;
}

// Where a tensor lies, counted from the start of the data.
struct Extent {
  uint64_t begin = 0, end = 0;
};

struct Entry {
  SafetensorsTensor tensor;
  Extent extent;
};

class HeaderReader {
 public:
  explicit HeaderReader(const std::string& where) : where_(where) {}

  Entry read(const std::string& name, const Json& fields) const {
    if (!fields.is_object()) invalid("{}: tensor '{}': wanted an object, found {}", where_, printable(name), fields.type_name());
    for (const auto& [key, value] : fields.items()) {
      if (key != "dtype" && key != "shape" && key != "data_offsets") {
        invalid("{}: tensor '{}' has an unknown field '{}'; wanted dtype, shape and data_offsets", where_, printable(name), printable(key));
      }
    }
    Entry entry;
    entry.tensor.name = name;
    const std::string at = fmt::format("{}: tensor '{}'", where_, printable(name));
    entry.tensor.dtype_name = require<std::string>(fields, "dtype", at);
    const ElementType* type = find_element_type(entry.tensor.dtype_name);
    if (!type) fail(ErrorCode::kUnsupported, "{} has unknown dtype '{}'", at, printable(entry.tensor.dtype_name));
    entry.tensor.dtype = type->dtype;

    const std::vector<uint64_t> offsets = numbers(fields, "data_offsets", at);
    if (offsets.size() != 2) invalid("{}: data_offsets has {} numbers, wanted 2", at, offsets.size());
    entry.extent = {offsets[0], offsets[1]};
    if (offsets[0] > offsets[1]) invalid("{}: data_offsets [{}, {}] are reversed", at, offsets[0], offsets[1]);

    const std::vector<uint64_t> sizes = numbers(fields, "shape", at);
    if (sizes.size() > kMaxRank) invalid("{}: its shape has {} axes, at most {} are possible", at, sizes.size(), kMaxRank);
    int64_t extent = std::max(type->bytes, 1);  // as if no size were 0, so that strides cannot overflow either
    for (uint64_t size : sizes) {
      if (__builtin_mul_overflow(extent, std::max<uint64_t>(size, 1), &extent))
        invalid("{}: its shape [{}] overflows", at, fmt::join(sizes, ", "));
      entry.tensor.sizes.push_back(int64_t(size));
    }
    const uint64_t bytes = entry.tensor.sizes.numel() == 0 ? 0 : uint64_t(extent);
    if (type->bytes > 0 && bytes != offsets[1] - offsets[0]) {
      invalid("{}: {} {} needs {} bytes, data_offsets [{}, {}] hold {}", at, type->name, entry.tensor.sizes.to_string(), bytes, offsets[0],
              offsets[1], offsets[1] - offsets[0]);
    }
    return entry;
  }

 private:
  static std::vector<uint64_t> numbers(const Json& fields, const char* key, const std::string& at) {
    std::vector<uint64_t> values;
    const Json array = require<Json>(fields, key, at);
    if (!array.is_array()) invalid("{}: '{}' is {}, wanted an array", at, key, array.type_name());
    for (const Json& value : array) {
      if (!value.is_number_unsigned()) invalid("{}: '{}' holds {}; wanted numbers from 0 to 2^64 - 1", at, key, printable(value.dump()));
      values.push_back(value.get<uint64_t>());
    }
    return values;
  }

  const std::string& where_;
};

// The tensors must cover the data from end to end, each byte once.
void check_cover(const std::vector<Entry>& entries, uint64_t data_bytes, const std::string& where) {
  uint64_t end = 0;
  std::string_view before = "the header";
  for (const Entry& entry : entries) {
    const SafetensorsTensor& tensor = entry.tensor;
    if (entry.extent.begin < end) {
      invalid("{}: tensor '{}' begins at {} and overlaps '{}', which ends at {}", where, printable(tensor.name), entry.extent.begin,
              printable(before), end);
    }
    if (entry.extent.begin > end) {
      invalid("{}: a gap from {} to {} between '{}' and tensor '{}'", where, end, entry.extent.begin, printable(before),
              printable(tensor.name));
    }
    end = entry.extent.end;
    if (end > data_bytes) {
      invalid("{}: tensor '{}' ends at {}, but the file holds {} bytes of data; is it cut short? Fetch it again", where,
              printable(tensor.name), end, data_bytes);
    }
    before = tensor.name;
  }
  if (end != data_bytes) invalid("{}: {} bytes after the last tensor belong to none", where, data_bytes - end);
}

}  // namespace

SafetensorsFile SafetensorsFile::parse(std::span<const std::byte> bytes, const std::string& where) {
  ByteReader in(bytes, where);
  const uint64_t header_bytes = in.take<uint64_t>("the header's length");
  if (header_bytes < 2 || header_bytes > kMaxHeaderBytes || header_bytes > in.remaining()) {
    invalid("{}: its header length is {}; wanted 2 to {}, which the file has room for. It is no safetensors file, or cut short", where,
            header_bytes, std::min<uint64_t>(kMaxHeaderBytes, in.remaining()));
  }
  const std::string_view text = as_text(in.take_bytes(header_bytes, "the header"));
  if (text.front() != '{') invalid("{}: its header begins with '{}', wanted '{{'", where, printable(text.substr(0, 1)));
  const Json header = parse_json_with_unique_keys(text, where + ": header");

  SafetensorsFile file;
  file.where_ = where;
  file.bytes_ = bytes;
  std::vector<Entry> entries;
  for (const auto& [name, fields] : header.items()) {
    if (name != "__metadata__") {
      entries.push_back(HeaderReader(where).read(name, fields));
      continue;
    }
    if (!fields.is_object()) invalid("{}: __metadata__ is {}, wanted an object", where, fields.type_name());
    for (const auto& [key, value] : fields.items()) {
      if (!value.is_string()) invalid("{}: __metadata__ '{}' is {}, wanted a string", where, printable(key), value.type_name());
      file.metadata_[key] = value.get<std::string>();
    }
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.extent.begin != b.extent.begin ? a.extent.begin < b.extent.begin : a.extent.end < b.extent.end;
  });
  const std::span<const std::byte> data = bytes.subspan(in.position());
  check_cover(entries, data.size(), where);
  for (Entry& entry : entries) {
    entry.tensor.data = data.subspan(entry.extent.begin, entry.extent.end - entry.extent.begin);
    file.by_name_[entry.tensor.name] = file.tensors_.size();
    file.tensors_.push_back(std::move(entry.tensor));
  }
  return file;
}

SafetensorsFile SafetensorsFile::open(const std::string& path) {
  const auto mapped = MappedFile::open(path);
  SafetensorsFile file = parse(mapped->bytes(), path);
  file.file_ = mapped;
  return file;
}

const SafetensorsTensor* SafetensorsFile::find(std::string_view name) const {
  const auto it = by_name_.find(std::string(name));
  return it == by_name_.end() ? nullptr : &tensors_[it->second];
}

void SafetensorsFile::release(const SafetensorsTensor& tensor) const {
  if (file_) file_->drop(tensor.data);
}

std::optional<std::string_view> safetensors_name(DType dtype) {
  for (const ElementType& type : kElementTypes)
    if (type.dtype == dtype) return type.name;
  return std::nullopt;
}

}  // namespace headrace
