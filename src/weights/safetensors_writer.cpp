#include "weights/safetensors_writer.h"

#include <algorithm>
#include <cstring>

#include "core/dtype.h"
#include "core/json.h"
#include "weights/safetensors.h"

namespace headrace {

namespace {

std::string header_text(const OrderedJson& header, const std::string& path) {
  try {
    return header.dump();
  } catch (const OrderedJson::type_error&) {
    invalid("{}: cannot be written: a tensor's name or its metadata are not valid UTF-8", path);
  }
}

}  // namespace

SafetensorsWriter::SafetensorsWriter(const std::string& path, const std::vector<Item>& items,
                                     const std::map<std::string, std::string>& metadata)
    : file_(path), path_(path) {
  std::vector<Item> order = items;
  std::stable_sort(order.begin(), order.end(),
                   [](const Item& a, const Item& b) { return info(a.dtype).block_bytes > info(b.dtype).block_bytes; });

  OrderedJson header = OrderedJson::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  uint64_t end = 0;
  for (const Item& item : order) {
    const auto dtype = safetensors_name(item.dtype);
    if (!dtype)
      fail(ErrorCode::kUnsupported, "{}: tensor '{}' has block type {}, which safetensors cannot hold", path, item.name, name(item.dtype));
    const auto bytes = checked_bytes(item.dtype, item.sizes);
    if (!bytes) invalid("{}: tensor '{}' has impossible sizes {}", path, item.name, item.sizes.to_string());
    if (!places_.emplace(item.name, Place{item, end}).second || item.name == "__metadata__")
      invalid("{}: the tensor name '{}' is taken", path, item.name);
    header[item.name] = {{"dtype", *dtype},
                         {"shape", std::vector<int64_t>(item.sizes.begin(), item.sizes.end())},
                         {"data_offsets", {end, end + uint64_t(*bytes)}}};
    end += uint64_t(*bytes);
  }
  std::string text = header_text(header, path);
  text.resize((text.size() + 8 + 63) / 64 * 64 - 8, ' ');
  const uint64_t length = text.size();
  file_.append(std::as_bytes(std::span(&length, 1)));
  file_.append(std::as_bytes(std::span(text)));
  for (auto& [name, place] : places_) place.offset += 8 + length;
}

void SafetensorsWriter::write(const std::string& name, const Tensor& tensor) {
  const auto it = places_.find(name);
  if (it == places_.end()) invalid("{}: tensor '{}' was not announced", path_, name);
  Place& place = it->second;
  if (tensor.dtype != place.item.dtype || !(tensor.sizes == place.item.sizes) || !tensor.is_contiguous()) {
    invalid("{}: tensor '{}' is {}{}, wanted a contiguous {}{}", path_, name, headrace::name(tensor.dtype), tensor.sizes.to_string(),
            headrace::name(place.item.dtype), place.item.sizes.to_string());
  }
  file_.write_at(place.offset, {tensor.as<const std::byte>(), size_t(tensor.bytes())});
  place.written = true;
}

void SafetensorsWriter::commit() {
  std::string missing;
  for (const auto& [name, place] : places_)
    if (!place.written) missing += (missing.empty() ? "" : ", ") + name;
  if (!missing.empty()) invalid("{}: these tensors were announced but not written: {}", path_, missing);
  file_.commit();
}

void write_safetensors(const std::string& path, const std::vector<std::pair<std::string, Tensor>>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  std::vector<SafetensorsWriter::Item> items;
  for (const auto& [name, tensor] : tensors) items.push_back({name, tensor.dtype, tensor.sizes});
  SafetensorsWriter writer(path, items, metadata);
  for (const auto& [name, tensor] : tensors) writer.write(name, tensor);
  writer.commit();
}

}  // namespace headrace
