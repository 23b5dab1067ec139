#include "weights/gguf.h"

#include <algorithm>

#include "core/error.h"
#include "weights/gguf_header.h"

namespace headrace {
namespace {

using TensorEntry = GgufHeaderReader::TensorEntry;

uint64_t round_up(uint64_t value, uint64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

uint64_t checked_alignment(const GgufFile& file) {
  const int64_t alignment = file.integer("general.alignment").value_or(32);
  if (alignment < 8 || alignment > 1 << 20 || (alignment & (alignment - 1)) != 0) {
    invalid("{}: general.alignment is {}; wanted a power of two from 8 to 2^20. The file is damaged", file.where(), alignment);
  }
  return uint64_t(alignment);
}

// Points every tensor at its bytes, which must be inside the data and aligned.
void place(std::vector<TensorEntry>& entries, std::span<const std::byte> data, uint64_t alignment, const std::string& where) {
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
}

// The bytes of a tensor are nobody else's, and between two tensors lies less than the alignment.
void check_cover(const std::vector<TensorEntry>& entries, uint64_t alignment, const std::string& where) {
  std::vector<const TensorEntry*> order(entries.size());
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

}  // namespace

void GgufFile::read(std::span<const std::byte> bytes, const std::string& where) {
  where_ = where;
  GgufHeaderReader in(bytes, where);
  version_ = in.version();
  const uint64_t num_tensors = in.take_num_tensors();
  const uint64_t num_values = in.take_num_metadata();
  for (uint64_t i = 0; i < num_values; ++i) {
    metadata_.push_back(in.take_metadata());
    if (!by_key_.emplace(metadata_.back().key, i).second)
      invalid("{}: metadata key '{}' occurs twice", where, printable(metadata_.back().key));
  }
  header_ = bytes.first(in.position());

  std::vector<TensorEntry> entries;
  for (uint64_t i = 0; i < num_tensors; ++i) entries.push_back(in.take_tensor());
  const uint64_t alignment = checked_alignment(*this), data_start = std::min<uint64_t>(round_up(in.position(), alignment), bytes.size());
  place(entries, bytes.subspan(size_t(data_start)), alignment, where);
  check_cover(entries, alignment, where);
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
