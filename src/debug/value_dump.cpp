#include "debug/value_dump.h"

#include <cctype>
#include <filesystem>
#include <fstream>

#include "core/json.h"
#include "debug/npy.h"

namespace headrace {
namespace {

constexpr size_t kLongestName = 200;  // of a file, in bytes; file systems have 255

std::string json_text(const std::string& text) { return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace); }

// What no file system and no shell minds.
std::string file_name(const std::string& name) {
  std::string file = name.substr(0, kLongestName);
  for (char& c : file)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_' && c != '-') c = '_';
  if (file.empty() || file[0] == '.') file.insert(0, "_");
  return file;
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) invalid("{}: cannot be made: {}", path, error.message());
}

}  // namespace

ValueDump::ValueDump(std::string directory) : directory_(std::move(directory)) {
  make_folder(directory_);
  if (std::filesystem::exists(directory_ + "/manifest.json"))
    invalid("{}: holds a dump already; name another folder, or remove it", directory_);
}

void ValueDump::begin_run(int64_t run, const std::string& phase) {
  folder_ = fmt::format("{:06}", run);
  make_folder(directory_ + "/" + folder_);
  files_.clear();
  entry_ = fmt::format("{{\"run\": {}, \"phase\": {}, \"values\": [", run, json_text(phase));
}

void ValueDump::write(std::string_view kind, const std::string& name, const Tensor& tensor) {
  std::string file = file_name(name) + ".npy";
  for (int n = 2; !files_.insert(file).second; ++n) file = fmt::format("{}_{}.npy", file_name(name), n);
  file = folder_ + "/" + file;
  write_npy(directory_ + "/" + file, tensor);
  entry_ += fmt::format("{}\n    {{\"name\": {}, \"kind\": \"{}\", \"dtype\": \"{}\", \"shape\": {}, \"file\": {}}}",
                        entry_.back() == '[' ? "" : ",", json_text(name), kind, headrace::name(tensor.dtype), tensor.sizes.to_string(),
                        json_text(file));
}

// The whole would be written again after each run, if the file did not keep its place: what is new replaces the end.
void ValueDump::end_run() {
  const std::string path = directory_ + "/manifest.json";
  constexpr std::string_view kEnd = "\n]}\n";
  std::fstream file(path, first_run_ ? std::ios::out | std::ios::binary : std::ios::in | std::ios::out | std::ios::binary);
  if (first_run_) file << manifest_;
  else file.seekp(-int64_t(kEnd.size()), std::ios::end);
  file << (first_run_ ? "\n  " : ",\n  ") << entry_ << "]}" << kEnd << std::flush;
  if (!file) fail(ErrorCode::kInvalidArgument, "{}: cannot be written; is the disk full?", path);
  first_run_ = false;
}

}  // namespace headrace
