// Values of runs as files: DIR/000012/NAME.npy, and DIR/manifest.json, which is complete after every run.
#pragma once

#include <string>
#include <unordered_set>

#include "headrace/debug.h"

namespace headrace {

class ValueDump {
 public:
  // Throws Error(kInvalidArgument) when the folder cannot be made or has a manifest already.
  explicit ValueDump(std::string directory);
  void begin_run(int64_t run, const std::string& phase);
  // `kind`: "input", "output" or "step".
  void write(std::string_view kind, const std::string& name, const Tensor& tensor);
  void end_run();

 private:
  std::string directory_;
  std::string manifest_ = "{\"format\": 1, \"runs\": [";  // without its end
  bool first_run_ = true;
  std::string folder_, entry_;  // of the run that goes on
  std::unordered_set<std::string> files_;
};

}  // namespace headrace
