#include "cli/text_source.h"

#include <filesystem>

#include "api/text_loader.h"
#include "core/context.h"
#include "core/mapped_file.h"
#include "engine/engine_file.h"
#include "weights/checkpoint.h"

namespace headrace::cli {
namespace {

namespace fs = std::filesystem;

// The name under which a vocabulary file is understood, whatever it is called itself.
std::string canonical_name(const std::string& file) {
  if (file == "vocab.txt" || file.ends_with(".tiktoken")) return file;
  if (file.ends_with(".json")) return "tokenizer.json";
  if (file.ends_with(".model")) return "tokenizer.model";
  return "";
}

}  // namespace

TextFiles find_text_files(const std::string& path) {
  if (!fs::exists(path))
    fail(ErrorCode::kNotFound, "{}: does not exist; wanted a model, a folder with a vocabulary or a vocabulary file", printable(path, 500));
  if (is_engine_file(path)) return read_engine(path).text;
  TextFiles files = read_text_files(path);
  if (files.empty() && fs::is_regular_file(path)) {
    const std::string name = canonical_name(fs::path(path).filename().string());
    if (name.empty())
      invalid("{}: is no vocabulary: wanted tokenizer.json, *.model, *.tiktoken, vocab.txt, a .gguf or a folder with one of them", path);
    const auto file = MappedFile::open(path);
    files.files[name] = {file->text(), file};
  }
  return files;
}

std::shared_ptr<const Tokenizer> open_tokenizer(const std::string& path) {
  const TextFiles files = find_text_files(path);
  if (files.empty())
    fail(ErrorCode::kNotFound, "{}: has no tokenizer files (tokenizer.json, tokenizer.model, *.tiktoken, vocab.txt or a GGUF's)", path);
  return with_context(path, [&] { return make_tokenizer(files); });
}

}  // namespace headrace::cli
