#include "core/new_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "core/error.h"

namespace headrace {

NewFile::NewFile(std::string path) : path_(std::move(path)), partial_path_(fmt::format("{}.partial-{}", path_, ::getpid())) {
  const std::string folder = std::filesystem::path(path_).parent_path().string();
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
  if (closed && std::rename(partial_path_.c_str(), path_.c_str()) == 0) return;
  const int error = errno;
  ::unlink(partial_path_.c_str());
  invalid("{}: cannot be put in place: {}", path_, std::strerror(error));
}

}  // namespace headrace
