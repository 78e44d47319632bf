// Files by POSIX calls: reads are bounded by the file's own size, writes end in a rename.
#include "files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace convoy::cli {
namespace {

std::string role(std::string_view what, const std::string& path) {
  return fmt::format("{} '{}'", what, path);
}

Status refused(const std::string& name, int error, std::string_view fix) {
  return invalid(fmt::format("{}: {}; {}", name, std::strerror(error), fix));
}

// Names of staged files, where a signal handler can read them.
struct Unfinished {
  std::atomic<bool> taken = false;
  std::atomic<bool> exists = false;
  char path[PATH_MAX];
};
Unfinished unfinished[8];

int take_slot(const std::string& path) {
  for (int i = 0; i < static_cast<int>(std::size(unfinished)); ++i) {
    Unfinished& slot = unfinished[i];
    if (path.size() >= sizeof slot.path || slot.taken.exchange(true)) continue;
    std::memcpy(slot.path, path.c_str(), path.size() + 1);
    return i;
  }
  return -1;
}

void release_slot(int i) {
  unfinished[i].exists = false;
  unfinished[i].taken = false;
}

// 0 or the errno of the first write that failed.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

int write_and_close(int fd, std::string_view bytes) {
  const int error = write_all(fd, bytes);
  const int closed = ::close(fd) == 0 ? 0 : errno;
  return error != 0 ? error : closed;
}

// A rename would replace the device node, or the link /dev/stdout, instead of writing to it.
bool is_written_in_place(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) return true;
  for (const char* prefix : {"/dev/std", "/dev/fd/", "/proc/"}) {
    if (path.starts_with(prefix)) return true;
  }
  return false;
}

// The file behind a link, so that the link stays one.
std::string resolve(const std::string& path) {
  char* resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  std::string target = resolved;
  std::free(resolved);
  return target;
}

constexpr std::string_view kWriteFix = "choose a writable place with enough room";

}  // namespace

Result<InputFile> InputFile::open(const std::string& path, std::string_view what) {
  InputFile file;
  file.name_ = role(what, path);
  // Without O_NONBLOCK a pipe would wait for its writer before it can be refused.
  const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return refused(file.name_, errno, "check the path");
  file.file_.reset(::fdopen(fd, "rb"));
  struct stat info{};
  if (!file.file_ || ::fstat(fd, &info) != 0) return refused(file.name_, errno, "try again");
  if (S_ISDIR(info.st_mode)) return refused(file.name_, EISDIR, "name a file in it");
  if (!S_ISREG(info.st_mode)) {
    return invalid(fmt::format("{}: must be a regular file, not a pipe or a device; save it first",
                               file.name_));
  }
  file.size_ = info.st_size;
  file.owner_ = info.st_uid;
  return file;
}

Status InputFile::read(int64_t offset, void* to, size_t bytes) const {
  auto* place = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = ::pread(::fileno(file_.get()), place, bytes, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return refused(name_, errno, "check the disk");
    if (got == 0) {
      return invalid(
          fmt::format("{}: ends {} bytes early; it shrank while it was read", name_, bytes));
    }
    place += got;
    offset += got;
    bytes -= static_cast<size_t>(got);
  }
  return {};
}

Result<std::string> read_file(const std::string& path, std::string_view what) {
  const Result<InputFile> file = InputFile::open(path, what);
  if (!file) return file.status();
  const int64_t memory = int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGE_SIZE);
  if (file->size() > memory) {
    return unavailable(
        fmt::format("{}: its {} bytes exceed the memory of {} bytes; use a smaller "
                    "file",
                    role(what, path), file->size(), memory));
  }
  std::string bytes(static_cast<size_t>(file->size()), '\0');
  if (Status s = file->read(0, bytes.data(), bytes.size()); !s.ok()) return s;
  return bytes;
}

Result<StagedFile> StagedFile::stage(const std::string& path, std::string_view bytes,
                                     std::string_view what) {
  StagedFile file;
  file.name_ = role(what, path);
  struct stat info{};
  if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
    return refused(file.name_, EISDIR, "name a file in it");
  }
  if (is_written_in_place(path)) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
    const int error = fd < 0 ? errno : write_and_close(fd, bytes);
    if (error != 0) return refused(file.name_, error, kWriteFix);
    return file;
  }
  file.target_ = resolve(path);
  static int count = 0;
  const size_t slash = file.target_.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : file.target_.substr(0, slash + 1);
  const std::string beside = fmt::format("{}.convoy-{}-{}.tmp", folder, ::getpid(), count++);
  file.slot_ = take_slot(beside);
  if (file.slot_ < 0) return refused(file.name_, ENAMETOOLONG, kWriteFix);
  Unfinished& slot = unfinished[file.slot_];
  slot.exists = true;
  const mode_t mode = info.st_mode != 0 ? info.st_mode & 07777 : 0666;
  const int fd = ::open(slot.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  const int error = fd < 0 ? errno : write_and_close(fd, bytes);
  if (error != 0) return refused(file.name_, error, kWriteFix);
  return file;
}

Status StagedFile::commit() {
  if (slot_ < 0) return {};
  if (::rename(unfinished[slot_].path, target_.c_str()) != 0) {
    return refused(name_, errno, kWriteFix);
  }
  release_slot(slot_);
  slot_ = -1;
  return {};
}

StagedFile& StagedFile::operator=(StagedFile&& other) noexcept {
  std::swap(target_, other.target_);
  std::swap(name_, other.name_);
  std::swap(slot_, other.slot_);
  return *this;
}

StagedFile::~StagedFile() {
  if (slot_ < 0) return;
  ::unlink(unfinished[slot_].path);
  release_slot(slot_);
}

Status write_file(const std::string& path, std::string_view bytes, std::string_view what) {
  Result<StagedFile> file = StagedFile::stage(path, bytes, what);
  if (!file) return file.status();
  return file->commit();
}

void remove_unfinished_files() {
  for (const Unfinished& slot : unfinished) {
    if (slot.exists) ::unlink(slot.path);
  }
}

}  // namespace convoy::cli
