#include "core/new_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "core/error.h"

namespace headrace {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLinks = 40;

std::string follow_links(const std::string& path) {
  fs::path target = path;
  std::error_code error;
  for (int links = 0; fs::is_symlink(target, error); ++links) {
    if (links == kMaxLinks) invalid("{}: cannot be created: it is a link that leads nowhere", path);
    target = target.parent_path() / fs::read_symlink(target, error);
  }
  return target.string();
}

void check_replaceable(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode)) return;
  invalid("{}: cannot be created: it is {}; name a file", path,
          S_ISDIR(status.st_mode) ? "a folder" : "no regular file, and would be lost");
}

}  // namespace

NewFile::NewFile(std::string path) : path_(std::move(path)) {
  check_replaceable(path_);
  target_ = follow_links(path_);
  partial_path_ = fmt::format("{}.partial-{}", target_, ::getpid());
  const std::string folder = fs::path(target_).parent_path().string();
  if (::access("/proc/self/fd", X_OK) == 0) fd_ = ::open(folder.empty() ? "." : folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  nameless_ = fd_ >= 0;
  if (!nameless_) fd_ = ::open(partial_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd_ < 0) invalid("{}: cannot be created: {}", path_, std::strerror(errno));
}

NewFile::~NewFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  if (!nameless_) ::unlink(partial_path_.c_str());
}

void NewFile::write_at(uint64_t offset, std::span<const std::byte> bytes) {
  end_ = std::max(end_, offset + bytes.size());
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd_, bytes.data(), bytes.size(), off_t(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) invalid("{}: cannot be written at byte {}: {}", path_, offset, std::strerror(errno));
    bytes = bytes.subspan(size_t(written));
    offset += uint64_t(written);
  }
}

void NewFile::commit() {
  const int fd = std::exchange(fd_, -1);
  if (nameless_) {
    ::unlink(partial_path_.c_str());  // of a process that had our number
    ::linkat(AT_FDCWD, fmt::format("/proc/self/fd/{}", fd).c_str(), AT_FDCWD, partial_path_.c_str(), AT_SYMLINK_FOLLOW);
  }
  const bool closed = ::close(fd) == 0;
  if (closed && std::rename(partial_path_.c_str(), target_.c_str()) == 0) return;
  const int error = errno;
  ::unlink(partial_path_.c_str());
  invalid("{}: cannot be put in place: {}", path_, std::strerror(error));
}

}  // namespace headrace
