// For tests: copies of the good manifest with one edit, and where the edit stands.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>  // mkdtemp

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "manifest/manifest.h"

namespace convoy::manifest {

// A checkout in a temporary folder: manifest/ as in the sources but for the largest file of
// workloads, an empty tests/ beside it.
class Checkout {
 public:
  Checkout() {
    std::string name = (std::filesystem::temp_directory_path() / "manifest_test_XXXXXX").string();
    root_ = mkdtemp(name.data());
    std::filesystem::copy(CONVOY_MANIFEST_DIR, folder(), std::filesystem::copy_options::recursive);
    std::filesystem::remove(folder() + "/workloads/h200_cudnn.yaml");
    std::filesystem::create_directory(root_ + "/tests");
  }
  ~Checkout() { std::filesystem::remove_all(root_); }
  Checkout(const Checkout&) = delete;
  Checkout& operator=(const Checkout&) = delete;

  std::string folder() const { return root_ + "/manifest"; }

  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path full = std::filesystem::path(root_) / path;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full, std::ios::binary) << text;
  }

  std::string text(const std::string& file) const {
    std::ifstream in(folder() + "/" + file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  // Replaces the first `from` after `anchor` and gives its line.
  int edit(const std::string& file, const std::string& anchor, const std::string& from,
           const std::string& to) {
    std::string all = text(file);
    const size_t at = all.find(from, all.find(anchor));
    EXPECT_NE(at, std::string::npos) << file << " lacks " << from;
    if (at == std::string::npos) return -1;
    all.replace(at, from.size(), to);
    write("manifest/" + file, all);
    return 1 + static_cast<int>(std::count(all.begin(), all.begin() + at, '\n'));
  }

  std::vector<Fault> faults() const {
    Result<std::vector<Fault>> found = validate(folder(), kernels());
    EXPECT_TRUE(found.ok()) << found.status().message();
    return found ? *found : std::vector<Fault>();
  }

  // Exactly one fault, there and with these words.
  void expect_fault(const std::string& file, int line, std::string_view part) const {
    const std::vector<Fault> found = faults();
    ASSERT_EQ(found.size(), 1U) << listing(found);
    EXPECT_EQ(found[0].file, file);
    EXPECT_EQ(found[0].line, line) << found[0].message;
    EXPECT_NE(found[0].message.find(part), std::string::npos) << found[0].message;
  }

  // At least this one among others that follow from it.
  void expect_among(const std::string& file, int line, std::string_view part) const {
    const std::vector<Fault> found = faults();
    const bool there = std::any_of(found.begin(), found.end(), [&](const Fault& f) {
      return f.file == file && f.line == line && f.message.find(part) != std::string::npos;
    });
    EXPECT_TRUE(there) << file << ":" << line << " " << part << " is not in:\n" << listing(found);
  }

  static std::string listing(const std::vector<Fault>& faults) {
    std::string out;
    for (const Fault& f : faults)
      out += f.file + ":" + std::to_string(f.line) + ": " + f.message + "\n";
    return out;
  }

 private:
  std::string root_;
};

}  // namespace convoy::manifest
