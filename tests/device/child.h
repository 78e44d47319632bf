// This program again, as a child process with a cache folder of its own choice.
#pragma once

#include <string>
#include <vector>

namespace convoy::test {

// An empty folder, removed with its contents at the end.
class CacheFolder {
 public:
  CacheFolder();
  ~CacheFolder();
  CacheFolder(const CacheFolder&) = delete;
  CacheFolder& operator=(const CacheFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A running copy of this program whose output goes to a file.
class Child {
 public:
  Child(const std::vector<std::string>& arguments, const CacheFolder& cache, std::string output);
  // The exit code, or -1 where it did not end by itself.
  int wait();
  std::string output() const;

 private:
  int pid_ = -1;
  std::string output_;
};

}  // namespace convoy::test
