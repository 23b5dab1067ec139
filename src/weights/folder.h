// Folders: what they hold and how they are called, with errors in our own words.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"

namespace headrace {

// The paths of what a folder holds, sorted. Throws Error(kNotFound) when it cannot be read.
inline std::vector<std::filesystem::path> list_folder(const std::filesystem::path& folder) {
  try {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    return paths;
  } catch (const std::filesystem::filesystem_error& e) {
    fail(ErrorCode::kNotFound, "{}: cannot be listed: {}", printable(folder.string(), 500), e.code().message());
  }
}

// False too where the answer cannot be found out.
inline bool is_there(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}
inline bool is_folder(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

// The name of a folder, or of the folder that holds a file.
inline std::string folder_name(const std::filesystem::path& path) {
  std::error_code ignored;
  std::filesystem::path whole = std::filesystem::absolute(path, ignored).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  return (is_folder(whole) ? whole : whole.parent_path()).filename().string();
}

}  // namespace headrace
