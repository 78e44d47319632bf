// Compiled kernels on disk, shared by processes: one file a kernel, named by its key.
//
// A cache never makes an error: what cannot be read, trusted or written is as if it were not there.
// Files of another owner, links, and files whose checksum fails are not used; broken ones of ours
// are removed. The folder has mode 0700 and serves only while nobody else may write it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace convoy {

struct DiskEntry {
  std::string key, kernel, arch;
  int64_t bytes = 0;  // of the file
};

class DiskCache {
 public:
  // An empty folder name caches nothing.
  DiskCache(std::string folder, int64_t limit_bytes)
      : folder_(std::move(folder)), limit_bytes_(limit_bytes) {}

  std::optional<std::vector<std::byte>> load(const std::string& key, const std::string& arch) const;
  // Whole or not at all; the least recently used entries go where the total would pass the limit.
  void store(const DiskEntry& entry, std::span<const std::byte> image) const;
  // Least recently used first.
  std::vector<DiskEntry> entries() const;
  // Removes every entry of this user, broken ones too; false where one stays.
  bool clear() const;

 private:
  std::string path_of(const std::string& key) const;
  std::vector<std::string> files() const;
  void make_room(int64_t bytes) const;

  std::string folder_;
  int64_t limit_bytes_;
};

}  // namespace convoy
