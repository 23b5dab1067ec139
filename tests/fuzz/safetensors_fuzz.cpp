// Any bytes are a safetensors file or an Error; what is read from an accepted file stays inside it.
#include <vector>

#include "core/blocks.h"
#include "core/error.h"
#include "weights/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace headrace;
  const std::vector<std::byte> bytes(reinterpret_cast<const std::byte*>(data), reinterpret_cast<const std::byte*>(data) + size);
  try {
    const SafetensorsFile file = SafetensorsFile::parse(bytes, "fuzz");
    for (const SafetensorsTensor& tensor : file.tensors()) {
      if (file.find(tensor.name) != &tensor) __builtin_trap();
      if (!tensor.dtype) continue;
      const Tensor view = Tensor::contiguous(tensor.data.data(), *tensor.dtype, tensor.sizes);
      if (uint64_t(view.bytes()) != tensor.data.size()) __builtin_trap();
      std::vector<float> values(size_t(view.numel()));  // no more than the file has bytes
      const std::vector<std::byte> aligned(tensor.data.begin(), tensor.data.end());
      to_float(*tensor.dtype, aligned.data(), values.data(), view.numel());
    }
  } catch (const Error&) {
  }
  return 0;
}
