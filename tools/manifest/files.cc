// Finds and reads the files of a manifest folder, each bounded in size.
#include <filesystem>
#include <fstream>
#include <set>

#include "base/str.h"
#include "manifest/manifest.h"

namespace convoy::manifest {
namespace {

Result<std::string> read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  // One byte over the bound, so that parse_yaml() refuses what is larger.
  std::string text(kMaxFileBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad() || (!in.is_open())) {
    return invalid(str("manifest: file ", path.string(), " cannot be read; check the path"));
  }
  text.resize(static_cast<size_t>(in.gcount()));
  return text;
}

}  // namespace

Result<std::vector<File>> load(const std::string& folder) {
  namespace fs = std::filesystem;
  std::vector<std::string> paths = {std::string(kOpsFile), std::string(kKernelsFile),
                                    std::string(kMachinesFile)};
  std::error_code error;
  std::set<std::string> workloads;
  for (fs::directory_iterator it(fs::path(folder) / kWorkloadsFolder, error), end;
       !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".yaml") workloads.insert(it->path().filename().string());
  }
  if (error) {
    return invalid(str("manifest: folder '", folder, "' has no readable ", kWorkloadsFolder,
                       "/; name the folder that holds ops/, kernels.yaml and workloads/"));
  }
  for (const std::string& file : workloads)
    paths.push_back(str(kWorkloadsFolder, "/", file));
  std::vector<File> files;
  for (const std::string& path : paths) {
    const fs::path full = fs::path(folder) / path;
    if (!fs::is_regular_file(full, error)) {
      return invalid(str("manifest: file ", full.string(), " is missing or no plain file; add it"));
    }
    Result<std::string> text = read_text(full);
    if (!text) return text.status();
    files.push_back({path, *std::move(text)});
  }
  return files;
}

}  // namespace convoy::manifest
