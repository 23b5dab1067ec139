// Cases of testdata/NAME/cases.jsonl, and the tokenizers beside them. For tests.
#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/mapped_file.h"
#include "core/test_support.h"
#include "text/assets.h"

namespace headrace {

struct TestCase {
  std::string text;
  std::vector<int32_t> ids;
  std::optional<std::vector<int32_t>> special_ids;
  std::optional<std::string> decoded;
};

inline std::vector<TestCase> read_test_cases(const std::string& path) {
  std::ifstream file(path);
  std::vector<TestCase> cases;
  for (std::string line; std::getline(file, line);) {
    const Json json = parse_json(line, path);
    cases.push_back({require<std::string>(json, "text", path), require<std::vector<int32_t>>(json, "ids", path),
                     headrace::find<std::vector<int32_t>>(json, "special_ids", "cases"),
                     headrace::find<std::string>(json, "decoded", "cases")});
  }
  return cases;
}

inline std::string test_folder(const std::string& name) { return std::string(HEADRACE_SOURCE_DIR) + "/src/text/testdata/" + name; }

inline TextAssets read_test_assets(const std::string& name) {
  TextAssets assets{.name = name, .files = {}};
  for (const auto& entry : std::filesystem::directory_iterator(test_folder(name)))
    assets.files[entry.path().filename().string()] = std::string(MappedFile::open(entry.path().string())->text());
  return assets;
}

inline std::shared_ptr<const Tokenizer> load_test_tokenizer(const std::string& name) { return load_tokenizer(read_test_assets(name)); }

}  // namespace headrace
