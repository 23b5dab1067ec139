// A file that appears under its name only when it is complete: written without a name, so that nothing is left whatever ends the process;
// where the file system cannot do that, beside it under another name. Then renamed.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace headrace {

class NewFile {
 public:
  // A link is followed. Throws Error(kInvalidArgument) when the folder cannot be written to, or the name is that of a device, a pipe or a
  // folder, none of which a file may replace; so do the writes when the disk is full.
  explicit NewFile(std::string path);
  // Removes what was written, unless it was committed.
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  // Parts may come in any order; what is never written reads as zeros.
  void write_at(uint64_t offset, std::span<const std::byte> bytes);
  // At the end of what write_at and append have written.
  void append(std::span<const std::byte> bytes) { write_at(end_, bytes); }
  uint64_t end() const { return end_; }
  // Replaces the file of that name, if there is one.
  void commit();

 private:
  std::string path_, target_, partial_path_;  // as named, where that leads, beside it
  int fd_ = -1;
  bool nameless_ = false;
  uint64_t end_ = 0;
};

}  // namespace headrace
