#include "weights/gguf.h"

#include <algorithm>
#include <numeric>

#include "core/dtype.h"
#include "weights/byte_reader.h"
#include "weights/gguf_types.h"

namespace headrace {
namespace {

constexpr uint32_t kNewestVersion = 3;
constexpr int kMaxArrayNesting = 4;

// The header of one file. Counts and lengths have 32 bits in version 1, 64 bits later.
class HeaderReader {
 public:
  HeaderReader(std::span<const std::byte> bytes, const std::string& where) : in_(bytes, where), where_(where) {
    if (as_text(bytes.first(std::min<size_t>(bytes.size(), 4))) != "GGUF") {
      invalid("{}: is no GGUF file: it begins with '{}', wanted 'GGUF'", where,
              printable(as_text(bytes.first(std::min<size_t>(bytes.size(), 4)))));
    }
    in_.take_bytes(4, "the magic");
    version_ = in_.take<uint32_t>("the version");
    if ((version_ & 0xffff) == 0 && version_ != 0) {
      fail(ErrorCode::kUnsupported, "{}: is a big-endian GGUF file; only little-endian ones are read. Convert the model again", where);
    }
    if (version_ < 1 || version_ > kNewestVersion) {
      fail(ErrorCode::kUnsupported, "{}: GGUF version {} is not known; wanted 1 to {}", where, version_, kNewestVersion);
    }
  }

  uint32_t version() const { return version_; }
  size_t position() const { return in_.position(); }

  // The number of things that follow, each of at least `least_bytes`: never more than can be in the file.
  uint64_t take_count(std::string_view what, size_t least_bytes) {
    const uint64_t count = take_length(what);
    if (count > in_.remaining() / least_bytes) {
      invalid("{}: {} is {}, but only {} bytes follow; the file is damaged. Fetch it again", where_, printable(what), count,
              in_.remaining());
    }
    return count;
  }

  std::string_view take_string(std::string_view what) {
    const uint64_t length = take_length(what);
    return as_text(in_.take_bytes(length, what));
  }

  GgufValue take_metadata() {
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

  struct TensorEntry {
    GgufTensor tensor;
    uint64_t offset = 0, bytes = 0;  // offset from the start of the data
  };
  TensorEntry take_tensor() {
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

 private:
  uint64_t take_length(std::string_view what) { return version_ == 1 ? in_.take<uint32_t>(what) : in_.take<uint64_t>(what); }

  GgufType take_type(std::string_view key) {
    const uint32_t type = in_.take<uint32_t>(key);
    if (type > uint32_t(GgufType::kF64))
      invalid("{}: metadata '{}' has unknown type {}; the file is damaged", where_, printable(key), type);
    return GgufType(type);
  }

  size_t least_bytes(GgufType element) const {
    const size_t length = version_ == 1 ? 4 : 8;
    return element == GgufType::kString ? length : element == GgufType::kArray ? 4 + length : bytes_of(element);
  }

  std::span<const std::byte> take_elements(GgufType element, uint64_t count, std::string_view key, int nesting_left) {
    if (element != GgufType::kString && element != GgufType::kArray) return in_.take_bytes(count * bytes_of(element), key);
    if (element == GgufType::kArray && nesting_left == 0) invalid("{}: metadata '{}' nests arrays too deeply", where_, printable(key));
    const ByteReader start = in_;
    for (uint64_t i = 0; i < count; ++i) {
      if (element == GgufType::kString) {
        take_string(key);
      } else {
        const GgufType inner = take_type(key);
        take_elements(inner, take_count(key, least_bytes(inner)), key, nesting_left - 1);
      }
    }
    return ByteReader(start).take_bytes(in_.position() - start.position(), key);
  }

  ByteReader in_;
  const std::string& where_;
  uint32_t version_ = 0;
};

uint64_t round_up(uint64_t value, uint64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

uint64_t checked_alignment(const GgufFile& file) {
  const int64_t alignment = file.integer("general.alignment").value_or(32);
  if (alignment < 8 || alignment > 1 << 20 || (alignment & (alignment - 1)) != 0) {
    invalid("{}: general.alignment is {}; wanted a power of two from 8 to 2^20. The file is damaged", file.where(), alignment);
  }
  return uint64_t(alignment);
}

// Points every tensor at its bytes, which must be inside the data, aligned and nobody else's; between two lies less than the alignment.
void place(std::vector<HeaderReader::TensorEntry>& entries, std::span<const std::byte> data, uint64_t alignment, const std::string& where) {
  for (auto& [tensor, offset, bytes] : entries) {
    if (offset % alignment != 0) {
      invalid("{}: tensor '{}' is at offset {}, which is no multiple of the alignment {}", where, printable(tensor.name), offset,
              alignment);
    }
    if (offset > data.size() || bytes > data.size() - offset) {
      invalid("{}: tensor '{}' {}{} needs {} bytes at offset {}, but the data ends at {}; is the file cut short? Fetch it again", where,
              printable(tensor.name), name(tensor.dtype), tensor.sizes.to_string(), bytes, offset, data.size());
    }
    tensor.data = data.subspan(size_t(offset), size_t(bytes));
  }
  std::vector<const HeaderReader::TensorEntry*> order(entries.size());
  std::transform(entries.begin(), entries.end(), order.begin(), [](const auto& entry) { return &entry; });
  std::sort(order.begin(), order.end(),
            [](auto* a, auto* b) { return a->offset != b->offset ? a->offset < b->offset : a->bytes < b->bytes; });
  if (!order.empty() && order[0]->offset != 0)
    invalid("{}: tensor '{}', the first, is at offset {}, wanted 0; the file is damaged", where, printable(order[0]->tensor.name),
            order[0]->offset);
  for (size_t i = 1; i < order.size(); ++i) {
    const auto &before = *order[i - 1], &after = *order[i];
    if (after.offset > round_up(before.offset + before.bytes, alignment)) {
      invalid("{}: a gap between tensors '{}' and '{}': the first ends at {}, the second begins at {}; the file is damaged", where,
              printable(before.tensor.name), printable(after.tensor.name), before.offset + before.bytes, after.offset);
    }
    if (before.offset + before.bytes > after.offset) {
      invalid("{}: tensors '{}' and '{}' overlap: the first ends at {}, the second begins at {}", where, printable(before.tensor.name),
              printable(after.tensor.name), before.offset + before.bytes, after.offset);
    }
  }
}

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

void GgufFile::read(std::span<const std::byte> bytes, const std::string& where) {
  where_ = where;
  HeaderReader in(bytes, where);
  version_ = in.version();
  const uint64_t num_tensors = in.take_count("the number of tensors", 24 - (version_ == 1 ? 4 : 0));
  const uint64_t num_values = in.take_count("the number of metadata values", version_ == 1 ? 9 : 13);
  for (uint64_t i = 0; i < num_values; ++i) {
    metadata_.push_back(in.take_metadata());
    if (!by_key_.emplace(metadata_.back().key, i).second)
      invalid("{}: metadata key '{}' occurs twice", where, printable(metadata_.back().key));
  }
  header_ = bytes.first(in.position());

  std::vector<HeaderReader::TensorEntry> entries;
  for (uint64_t i = 0; i < num_tensors; ++i) entries.push_back(in.take_tensor());
  const uint64_t alignment = checked_alignment(*this), data_start = std::min<uint64_t>(round_up(in.position(), alignment), bytes.size());
  place(entries, bytes.subspan(size_t(data_start)), alignment, where);
  for (auto& entry : entries) {
    if (!by_name_.emplace(entry.tensor.name, tensors_.size()).second)
      invalid("{}: tensor '{}' occurs twice", where, printable(entry.tensor.name));
    tensors_.push_back(std::move(entry.tensor));
  }
}

GgufFile GgufFile::parse(std::span<const std::byte> bytes, const std::string& where) {
  GgufFile file;
  file.read(bytes, where);
  return file;
}

GgufFile GgufFile::open(const std::string& path) {
  const auto open_one = [](const std::string& one) {
    const auto mapped = MappedFile::open(one);
    GgufFile file = parse(mapped->bytes(), one);
    file.files_ = {mapped};
    return file;
  };
  GgufFile first = open_one(path);
  const int64_t num_parts = first.integer("split.count").value_or(1);
  if (num_parts <= 1) return first;

  const std::string ending = fmt::format("-00001-of-{:05}.gguf", num_parts);
  if (!path.ends_with(ending) || num_parts > 99999) {
    invalid("{}: is one of {} parts of a model; open the first part, whose name ends with '{}'", path, num_parts, ending);
  }
  const std::string stem = path.substr(0, path.size() - ending.size());
  for (int64_t part = 2; part <= num_parts; ++part) first.add(open_one(fmt::format("{}-{:05}-of-{:05}.gguf", stem, part, num_parts)));
  const int64_t wanted = first.integer("split.tensors.count").value_or(int64_t(first.tensors_.size()));
  if (wanted != int64_t(first.tensors_.size())) {
    invalid("{}: its {} parts hold {} tensors, the first part promises {}; are the parts of one model?", path, num_parts,
            first.tensors_.size(), wanted);
  }
  return first;
}

void GgufFile::add(GgufFile part) {
  for (GgufTensor& tensor : part.tensors_) {
    if (!by_name_.emplace(tensor.name, tensors_.size()).second) {
      invalid("{}: tensor '{}' is in an earlier part too; are the parts of one model?", part.where_, printable(tensor.name));
    }
    tensor.file = int(files_.size());
    tensors_.push_back(std::move(tensor));
  }
  files_.push_back(part.files_.front());
}

const GgufTensor* GgufFile::find_tensor(std::string_view name) const {
  const auto it = by_name_.find(std::string(name));
  return it == by_name_.end() ? nullptr : &tensors_[it->second];
}

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

std::string GgufFile::metadata_only() const {
  std::string bytes(as_text(header_));
  std::fill_n(bytes.begin() + 8, version_ == 1 ? 4 : 8, '\0');  // the number of tensors
  return bytes;
}

void GgufFile::release(const GgufTensor& tensor) const {
  if (size_t(tensor.file) < files_.size()) files_[tensor.file]->drop(tensor.data);
}

std::optional<FileRange> GgufFile::locate(const GgufTensor& tensor) const {
  if (size_t(tensor.file) >= files_.size()) return std::nullopt;
  const MappedFile& file = *files_[tensor.file];
  return FileRange{file.path(), uint64_t(tensor.data.data() - file.bytes().data()), tensor.data.size()};
}

}  // namespace headrace
