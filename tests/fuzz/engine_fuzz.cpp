// Any bytes are an engine or an Error; what is read of one that is accepted stays inside the file.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "engine/tactics.h"

namespace {

using namespace headrace;

// A file that goes with its owner; what is mapped of it stays.
struct ScratchFile {
  const std::string path = (std::filesystem::temp_directory_path() / fmt::format("engine_fuzz.{}.engine", ::getpid())).string();
  ~ScratchFile() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
};

Engine read(const uint8_t* data, size_t size) {
  const ScratchFile file;
  std::ofstream(file.path, std::ios::binary).write(reinterpret_cast<const char*>(data), std::streamsize(size));
  return read_engine(file.path);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const Engine engine = read(data, size);
    tactics_for(engine, "cpu");
    inspect(engine);
    if (!engine.weights) return 0;
    uint64_t sum = 0;
    for (const std::string& name : engine.weights->names()) {
      const Tensor tensor = engine.weights->read(name);
      for (int64_t i = 0; i < tensor.bytes(); ++i) sum += tensor.as<uint8_t>()[i];
    }
    if (sum == 1) std::fputs("", stderr);  // so that the bytes are read
  } catch (const Error&) {
  }
  return 0;
}
