// Files of compiled kernels.
#include "jit/disk_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <utility>

#include "base/str.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

constexpr char kSuffix[] = ".cubin";
constexpr int64_t kMostImageBytes = int64_t{64} << 20;
constexpr int64_t kLongestWriteS = 600;  // an older temporary file has lost its writer

struct Header {
  char magic[16];
  char key[32];
  char arch[16];
  char kernel[64];
  uint64_t image_bytes;
  uint64_t checksum;  // of the fields above and the image
};
constexpr char kMagic[16] = "convoy kernel 1";

uint64_t checksum_of(const Header& header, std::span<const std::byte> image) {
  const uint64_t start = XXH3_64bits(&header, offsetof(Header, checksum));
  return XXH3_64bits_withSeed(image.data(), image.size(), start);
}

template <size_t kSize>
void put(char (&to)[kSize], const std::string& text) {
  std::memset(to, 0, kSize);
  std::memcpy(to, text.data(), std::min(text.size(), kSize));
}
template <size_t kSize>
std::string get(const char (&from)[kSize]) {
  return {from, strnlen(from, kSize)};
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  int get() const { return fd_; }
  bool close() {
    const int fd = std::exchange(fd_, -1);
    return fd < 0 || ::close(fd) == 0;
  }

 private:
  int fd_;
};

bool read_all(int fd, void* to, size_t bytes) {
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = ::read(fd, at, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    bytes -= static_cast<size_t>(got);
  }
  return true;
}
bool write_all(int fd, const void* from, size_t bytes) {
  const auto* at = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t put = ::write(fd, at, bytes);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    at += put;
    bytes -= static_cast<size_t>(put);
  }
  return true;
}

bool is_ours(const struct stat& info) {
  return info.st_uid == ::geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool is_trusted_folder(const std::string& folder) {
  struct stat info = {};
  return !folder.empty() && ::lstat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
         is_ours(info);
}

bool make_folder(const std::string& folder) {
  if (folder.empty()) return false;
  std::error_code error;
  const fs::path parent = fs::path(folder).parent_path();
  if (!parent.empty()) fs::create_directories(parent, error);
  ::mkdir(folder.c_str(), S_IRWXU);
  return is_trusted_folder(folder);
}

// A regular file of ours whose size is what its header says. A file that another owns is left
// alone; a broken one of ours is `broken`.
std::optional<Header> read_header(int fd, bool& broken) {
  struct stat info = {};
  Header header = {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || !is_ours(info)) return std::nullopt;
  broken = true;
  if (!read_all(fd, &header, sizeof header)) return std::nullopt;
  const bool whole = std::memcmp(header.magic, kMagic, sizeof kMagic) == 0 &&
                     header.image_bytes <= kMostImageBytes &&
                     static_cast<uint64_t>(info.st_size) == sizeof header + header.image_bytes;
  if (!whole) return std::nullopt;
  broken = false;
  return header;
}

// ".KEY.PID.COUNT", which becomes an entry when it is whole.
bool is_temporary(const std::string& name) {
  return name.size() > 34 && name[0] == '.' && name[33] == '.' &&
         name.find_first_not_of("0123456789abcdef", 1) == 33 &&
         name.find_first_not_of("0123456789.", 33) == std::string::npos;
}

int open_entry(const std::string& path) {
  return ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

}  // namespace

std::string DiskCache::path_of(const std::string& key) const {
  return folder_ + "/" + key + kSuffix;
}

std::optional<std::vector<std::byte>> DiskCache::load(const std::string& key,
                                                      const std::string& arch) const {
  if (!is_trusted_folder(folder_)) return std::nullopt;
  const std::string path = path_of(key);
  const Descriptor file(open_entry(path));
  if (file.get() < 0) return std::nullopt;
  bool broken = false;
  const std::optional<Header> header = read_header(file.get(), broken);
  std::vector<std::byte> image;
  if (header) {
    image.resize(header->image_bytes);
    broken = !read_all(file.get(), image.data(), image.size()) ||
             checksum_of(*header, image) != header->checksum || get(header->key) != key ||
             get(header->arch) != arch;
  }
  if (broken) ::unlink(path.c_str());
  if (!header || broken) return std::nullopt;
  ::futimens(file.get(), nullptr);  // now the most recently used
  return image;
}

void DiskCache::store(const DiskEntry& entry, std::span<const std::byte> image) const {
  const auto bytes = static_cast<int64_t>(sizeof(Header) + image.size());
  if (bytes > limit_bytes_ || !make_folder(folder_)) return;
  make_room(bytes);
  Header header = {};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  put(header.key, entry.key);
  put(header.arch, entry.arch);
  put(header.kernel, entry.kernel);
  header.image_bytes = image.size();
  header.checksum = checksum_of(header, image);
  static std::atomic<int> counter = 0;
  const std::string temporary = str(folder_, "/.", entry.key, ".", ::getpid(), ".", counter++);
  Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                         S_IRUSR | S_IWUSR));
  if (file.get() < 0) return;
  const bool written = write_all(file.get(), &header, sizeof header) &&
                       write_all(file.get(), image.data(), image.size());
  const bool closed = file.close();
  const bool kept =
      written && closed && ::rename(temporary.c_str(), path_of(entry.key).c_str()) == 0;
  if (!kept) ::unlink(temporary.c_str());
}

// Entries and the leftovers of interrupted writes, least recently used first.
std::vector<std::string> DiskCache::files() const {
  std::vector<std::pair<int64_t, std::string>> found;
  if (!is_trusted_folder(folder_)) return {};
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    const bool entry = name.ends_with(kSuffix) && name.size() == 32 + sizeof kSuffix - 1;
    struct stat info = {};
    if (!(entry || is_temporary(name)) || ::lstat(it->path().c_str(), &info) != 0) continue;
    if (!S_ISREG(info.st_mode) || !is_ours(info)) continue;
    if (!entry && info.st_mtim.tv_sec > ::time(nullptr) - kLongestWriteS) continue;
    found.emplace_back(info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec, it->path());
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> paths;
  paths.reserve(found.size());
  for (auto& [time, path] : found)
    paths.push_back(std::move(path));
  return paths;
}

void DiskCache::make_room(int64_t bytes) const {
  std::vector<std::pair<std::string, int64_t>> kept;
  for (const std::string& path : files()) {
    struct stat info = {};
    if (!path.ends_with(kSuffix)) ::unlink(path.c_str());
    if (::lstat(path.c_str(), &info) != 0) continue;
    kept.emplace_back(path, info.st_size);
    bytes += info.st_size;
  }
  for (const auto& [path, size] : kept) {
    if (bytes <= limit_bytes_) return;
    ::unlink(path.c_str());
    bytes -= size;
  }
}

std::vector<DiskEntry> DiskCache::entries() const {
  std::vector<DiskEntry> list;
  for (const std::string& path : files()) {
    const Descriptor file(open_entry(path));
    bool broken = false;
    const auto header = file.get() < 0 ? std::nullopt : read_header(file.get(), broken);
    if (!header) continue;
    list.push_back({get(header->key), get(header->kernel), get(header->arch),
                    static_cast<int64_t>(sizeof(Header) + header->image_bytes)});
  }
  return list;
}

bool DiskCache::clear() const {
  bool all = true;
  for (const std::string& path : files())
    all = ::unlink(path.c_str()) == 0 && all;
  return all;
}

}  // namespace convoy
