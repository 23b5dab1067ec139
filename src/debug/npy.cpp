#include "debug/npy.h"

#include "core/blocks.h"
#include "core/error.h"
#include "core/new_file.h"
#include "ops/reference.h"

namespace headrace {
namespace {

// As numpy.dtype.descr spells it.
const char* descr(DType dtype) {
  switch (dtype) {
    case DType::kF16: return "<f2";
    case DType::kI64: return "<i8";
    case DType::kI32: return "<i4";
    case DType::kI8: return "|i1";
    case DType::kU8: return "|u1";
    case DType::kBool: return "|b1";
    default: return "<f4";
  }
}

bool is_widened(DType dtype) { return std::string_view(descr(dtype)) == "<f4" && dtype != DType::kF32; }

// The data begins at a multiple of 64 bytes.
std::string header(DType dtype, const Sizes& sizes) {
  std::string shape;
  for (int64_t size : sizes) shape += fmt::format("{},{}", size, sizes.rank() == 1 ? "" : " ");
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr(dtype), shape);
  constexpr size_t kPrefix = 10;  // magic, version, length of what follows
  text.append(63 - (kPrefix + text.size()) % 64, ' ');
  text += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += char(text.size() & 0xff);
  bytes += char(text.size() >> 8);
  return bytes + text;
}

}  // namespace

void write_npy(const std::string& path, const Tensor& tensor) {
  HostTensor values = contiguous_copy(tensor);
  if (is_widened(tensor.dtype)) {
    HostTensor wide(DType::kF32, tensor.sizes);
    to_float(tensor.dtype, values.view().data, wide.as<float>(), tensor.numel());
    values = std::move(wide);
  }
  const std::string head = header(tensor.dtype, tensor.sizes);
  NewFile file(path);
  file.append(std::as_bytes(std::span(head)));
  file.append({values.as<const std::byte>(), size_t(values.view().bytes())});
  file.commit();
}

}  // namespace headrace
