// Writes a safetensors file, a tensor at a time and in any order; the file appears when it is complete.
#pragma once

#include "core/new_file.h"
#include "headrace/weights.h"

namespace headrace {

class SafetensorsWriter {
 public:
  struct Item {
    std::string name;
    DType dtype;
    Sizes sizes;
  };
  // The data begin at a multiple of 64 bytes; tensors of wider elements come first, so each is aligned to its element.
  // Throws Error(kInvalidArgument) for a name that occurs twice, Error(kUnsupported) for a block type.
  SafetensorsWriter(const std::string& path, const std::vector<Item>& items, const std::map<std::string, std::string>& metadata = {});

  // A contiguous tensor of the type and sizes that were announced.
  void write(const std::string& name, const Tensor& tensor);
  // Throws Error(kInvalidArgument) naming the tensors that were never written.
  void commit();

 private:
  struct Place {
    Item item;
    uint64_t offset = 0;
    bool written = false;
  };
  NewFile file_;
  std::string path_;
  std::map<std::string, Place> places_;
};

}  // namespace headrace
