// Whole-file reading with a size bound, and writing that happens completely or not at all.
#pragma once

#include <convoy/status.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace convoy::cli {

// A regular file open for reading. Folders, pipes and devices are refused: their size is unknown.
class InputFile {
 public:
  // `what` names the role of the file in messages.
  static Result<InputFile> open(const std::string& path, std::string_view what);
  int64_t size() const { return size_; }
  int64_t owner() const { return owner_; }  // user id
  // Fills `bytes` bytes from `offset`; kInvalid where the file ends early.
  Status read(int64_t offset, void* to, size_t bytes) const;

 private:
  struct Close {
    void operator()(FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<FILE, Close> file_;
  int64_t size_ = 0, owner_ = 0;
  std::string name_;  // role and path
};

// kInvalid with the path and the reason, kUnavailable where the file exceeds the memory.
Result<std::string> read_file(const std::string& path, std::string_view what);

// A file written beside its target, which commit() replaces. Without commit() nothing is left.
// Devices and pipes such as /dev/stdout have no such place: stage() writes them.
class StagedFile {
 public:
  static Result<StagedFile> stage(const std::string& path, std::string_view bytes,
                                  std::string_view what);
  Status commit();

  StagedFile(StagedFile&& other) noexcept { *this = std::move(other); }
  StagedFile& operator=(StagedFile&& other) noexcept;
  ~StagedFile();

 private:
  StagedFile() = default;
  std::string target_, name_;
  int slot_ = -1;  // of the table of unfinished files; -1: nothing left to do
};

// stage() and commit(). A full disk or an unwritable folder leaves the old file.
Status write_file(const std::string& path, std::string_view bytes, std::string_view what);

// Removes what is staged. For signal handlers: calls nothing but unlink.
void remove_unfinished_files();

}  // namespace convoy::cli
