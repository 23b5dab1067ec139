// Any bytes are a GGUF file or an Error; what is read from an accepted file stays inside it, and its metadata alone are a GGUF file again.
#include <vector>

#include "core/blocks.h"
#include "core/error.h"
#include "weights/gguf.h"
#include "weights/gguf_config.h"
#include "weights/tensor_names.h"

namespace {

using namespace headrace;

// A wrong kind is an Error of its own; the next lookup goes on.
template <typename Lookup>
void try_lookup(Lookup&& lookup) {
  try {
    lookup();
  } catch (const Error&) {
  }
}

void read_everything(const GgufFile& file) {
  for (const GgufValue& value : file.metadata()) {
    try_lookup([&] { file.string(value.key); });
    try_lookup([&] { file.integer(value.key); });
    try_lookup([&] { file.real(value.key); });
    try_lookup([&] { file.boolean(value.key); });
    try_lookup([&] { file.strings(value.key); });
    try_lookup([&] { file.integers(value.key); });
    try_lookup([&] { file.reals(value.key); });
  }
  std::vector<std::string> names;
  for (const GgufTensor& tensor : file.tensors()) {
    const Tensor view = Tensor::contiguous(tensor.data.data(), tensor.dtype, tensor.sizes);
    if (uint64_t(view.bytes()) != tensor.data.size()) __builtin_trap();
    std::vector<float> values(size_t(view.numel()));  // at most four per byte of the file
    to_float(tensor.dtype, view.data, values.data(), view.numel());
    names.push_back(tensor.name);
  }
  try_lookup([&] { gguf_config(file); });
  try_lookup([&] { gguf_generation_defaults(file); });
  try_lookup([&] { gguf_pooling(file); });
  for (const char* architecture : {"llama", "gemma3", "gpt2", "bert", "other"})
    try_lookup([&] { gguf_tensor_names(architecture, names, "fuzz"); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<std::byte> bytes(reinterpret_cast<const std::byte*>(data), reinterpret_cast<const std::byte*>(data) + size);
  try {
    const GgufFile file = GgufFile::parse(bytes, "fuzz");
    read_everything(file);
    const std::string metadata = file.metadata_only();
    if (GgufFile::parse(std::as_bytes(std::span(metadata)), "fuzz").metadata().size() != file.metadata().size()) __builtin_trap();
  } catch (const Error&) {
  }
  return 0;
}
