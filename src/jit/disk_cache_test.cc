// The disk cache gives back what it stored and trusts nothing else.
#include "jit/disk_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace convoy {
namespace {

namespace fs = std::filesystem;

const std::string kKey(32, 'a');

class DiskCacheTest : public ::testing::Test {
 protected:
  DiskCacheTest() {
    char name[] = "/tmp/convoy_disk_cache_XXXXXX";
    parent = ::mkdtemp(name);
    folder = parent + "/cache";
  }
  ~DiskCacheTest() override {
    ::chmod(folder.c_str(), S_IRWXU);
    fs::remove_all(parent);
  }

  static std::vector<std::byte> image(size_t bytes, int salt = 0) {
    std::vector<std::byte> out(bytes);
    for (size_t i = 0; i < bytes; ++i)
      out[i] = static_cast<std::byte>(i * 7 + static_cast<size_t>(salt));
    return out;
  }
  std::string file() const { return folder + "/" + kKey + ".cubin"; }
  void put(size_t bytes = 1000) const {
    DiskCache(folder, 1 << 20).store({kKey, "kernel", "sm_90"}, image(bytes));
  }
  bool has() const { return DiskCache(folder, 1 << 20).load(kKey, "sm_90").has_value(); }

  std::string parent, folder;
};

TEST_F(DiskCacheTest, GivesBackWhatItStored) {
  EXPECT_FALSE(has());
  put();
  const DiskCache cache(folder, 1 << 20);
  EXPECT_EQ(cache.load(kKey, "sm_90"), image(1000));
  EXPECT_FALSE(cache.load(std::string(32, 'b'), "sm_90").has_value());
  ASSERT_EQ(cache.entries().size(), 1U);
  EXPECT_EQ(cache.entries()[0].kernel, "kernel");
  EXPECT_EQ(cache.entries()[0].arch, "sm_90");
  struct stat info = {};
  ASSERT_EQ(::stat(folder.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0700U);
  EXPECT_TRUE(cache.clear());
  EXPECT_FALSE(has());
}

TEST_F(DiskCacheTest, AnotherArchitectureIsNoHit) {
  put();
  EXPECT_FALSE(DiskCache(folder, 1 << 20).load(kKey, "sm_80").has_value());
}

// Every byte counts: flipped anywhere, cut short or grown, the entry is gone and removed.
TEST_F(DiskCacheTest, DropsWhatIsDamaged) {
  put(40);
  const auto size = static_cast<int64_t>(fs::file_size(file()));
  for (int64_t at = 0; at < size; at += 5) {
    put(40);
    std::fstream stream(file(), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(at);
    const int byte = stream.get();
    stream.seekp(at);
    stream.put(static_cast<char>(byte ^ 0x10));
    stream.close();
    EXPECT_FALSE(has()) << at;
    EXPECT_FALSE(fs::exists(file())) << at;
  }
  for (const int64_t length : {int64_t{0}, int64_t{10}, size - 1, size + 1}) {
    put(40);
    fs::resize_file(file(), static_cast<uintmax_t>(length));
    EXPECT_FALSE(has()) << length;
  }
}

TEST_F(DiskCacheTest, FollowsNoLinks) {
  put();
  fs::rename(file(), parent + "/elsewhere");
  fs::create_symlink(parent + "/elsewhere", file());
  EXPECT_FALSE(has());
  fs::remove(file());
  fs::rename(folder, parent + "/real");
  fs::create_directory_symlink(parent + "/real", folder);
  put();
  EXPECT_FALSE(has());
}

TEST_F(DiskCacheTest, TrustsNoFolderThatOthersWrite) {
  put();
  ::chmod(folder.c_str(), 0777);
  EXPECT_FALSE(has());
  ::chmod(folder.c_str(), 0700);
  ::chmod(file().c_str(), 0666);
  EXPECT_FALSE(has());
}

TEST_F(DiskCacheTest, LeavesAnothersFileAlone) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may give a file away";
  put();
  ASSERT_EQ(::chown(file().c_str(), 1, 1), 0);
  EXPECT_FALSE(has());
  EXPECT_TRUE(DiskCache(folder, 1 << 20).clear());
  EXPECT_TRUE(fs::exists(file()));
}

TEST_F(DiskCacheTest, LivesWithoutAFolder) {
  std::ofstream(folder) << "a file";
  put();
  EXPECT_FALSE(has());
  const DiskCache none("", 1 << 20);
  none.store({kKey, "kernel", "sm_90"}, image(10));
  EXPECT_FALSE(none.load(kKey, "sm_90").has_value());
  const DiskCache nowhere("/proc/convoy/cache", 1 << 20);
  nowhere.store({kKey, "kernel", "sm_90"}, image(10));
  EXPECT_TRUE(nowhere.entries().empty());
}

TEST_F(DiskCacheTest, StaysWithinItsLimit) {
  const DiskCache cache(folder, 5000);
  for (const char c : {'a', 'b', 'c', 'd', 'e', 'f'}) {
    cache.store({std::string(32, c), "kernel", "sm_90"}, image(1200));
    cache.load(std::string(32, 'a'), "sm_90");  // keeps the first in use
    ::usleep(2000);
  }
  int64_t total = 0;
  for (const DiskEntry& entry : cache.entries())
    total += entry.bytes;
  EXPECT_LE(total, 5000);
  EXPECT_GE(cache.entries().size(), 3U);
  EXPECT_TRUE(cache.load(std::string(32, 'a'), "sm_90").has_value());
  EXPECT_FALSE(cache.load(std::string(32, 'b'), "sm_90").has_value());
  cache.store({std::string(32, 'g'), "kernel", "sm_90"}, image(6000));
  EXPECT_FALSE(cache.load(std::string(32, 'g'), "sm_90").has_value());
}

// Readers see a whole entry or none while many write it.
TEST_F(DiskCacheTest, WritersAndReadersMeet) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const DiskCache cache(folder, 1 << 20);
      for (int i = 0; i < 50; ++i) {
        cache.store({kKey, "kernel", "sm_90"}, image(5000, t));
        const auto got = cache.load(kKey, "sm_90");
        if (got && (got->size() != 5000 || *got != image(5000, static_cast<int>((*got)[0])))) {
          ++wrong;
        }
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(has());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
}

// A write that was killed leaves a file; it goes with the next write once nobody can be at it.
TEST_F(DiskCacheTest, SweepsLeftovers) {
  put();
  const std::string stale = folder + "/." + std::string(32, 'b') + ".77.0";
  const std::string fresh = folder + "/." + std::string(32, 'c') + ".78.0";
  const std::string foreign = folder + "/." + std::string(32, 'd') + ".notes";
  for (const std::string& path : {stale, fresh, foreign}) {
    std::ofstream(path) << "part";
    ::chmod(path.c_str(), 0600);
  }
  const timeval long_ago[2] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(::utimes(stale.c_str(), long_ago), 0);
  ASSERT_EQ(::utimes(foreign.c_str(), long_ago), 0);
  EXPECT_EQ(DiskCache(folder, 1 << 20).entries().size(), 1U);
  put();
  EXPECT_FALSE(fs::exists(stale));
  EXPECT_TRUE(fs::exists(fresh));
  EXPECT_TRUE(fs::exists(foreign));
}

// Two processes that meet on a cache that is not there yet, each reading what the other wrote.
TEST_F(DiskCacheTest, ProcessesShareAColdCache) {
  const auto work = [&](int salt) {
    const DiskCache cache(folder, 1 << 20);
    for (int i = 0; i < 100; ++i) {
      const std::string key(32, static_cast<char>('a' + i % 6));
      const auto got = cache.load(key, "sm_90");
      if (got && (got->size() != 3000 || *got != image(3000, static_cast<int>((*got)[0])))) {
        return 1;
      }
      cache.store({key, "kernel", "sm_90"}, image(3000, salt));
      if (!cache.load(key, "sm_90")) return 2;
    }
    return 0;
  };
  pid_t children[2] = {};
  for (int c = 0; c < 2; ++c) {
    children[c] = ::fork();
    ASSERT_GE(children[c], 0);
    if (children[c] == 0) ::_exit(work(c));
  }
  for (const pid_t child : children) {
    int state = 0;
    ASSERT_EQ(::waitpid(child, &state, 0), child);
    EXPECT_TRUE(WIFEXITED(state));
    EXPECT_EQ(WEXITSTATUS(state), 0);
  }
  EXPECT_EQ(DiskCache(folder, 1 << 20).entries().size(), 6U);
}

}  // namespace
}  // namespace convoy
