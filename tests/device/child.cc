// Child processes of the device test.
#include "device/child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace convoy::test {

CacheFolder::CacheFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "convoy-device-XXXXXX").string();
  if (mkdtemp(name.data()) != nullptr) path_ = name;
}

CacheFolder::~CacheFolder() {
  std::error_code error;
  if (!path_.empty()) std::filesystem::remove_all(path_, error);
}

Child::Child(const std::vector<std::string>& arguments, const CacheFolder& cache,
             std::string output)
    : output_(cache.path() + "/" + std::move(output)) {
  std::error_code error;
  std::string program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = {"CONVOY_CACHE_DIR=" + cache.path()};
  for (char** v = environ; *v != nullptr; ++v) {
    if (!std::string_view(*v).starts_with("CONVOY_CACHE_DIR=")) variables.emplace_back(*v);
  }
  const auto pointers = [](std::vector<std::string>& texts) {
    std::vector<char*> list;
    for (std::string& text : texts)
      list.push_back(text.data());
    list.push_back(nullptr);
    return list;
  };
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, output_.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                   0600);
  pid_t pid = -1;
  if (posix_spawn(&pid, program.c_str(), &actions, nullptr, pointers(words).data(),
                  pointers(variables).data()) == 0) {
    pid_ = pid;
  }
  posix_spawn_file_actions_destroy(&actions);
}

int Child::wait() {
  int status = 0;
  if (pid_ < 0 || waitpid(pid_, &status, 0) != pid_) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string Child::output() const {
  std::ifstream file(output_);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace convoy::test
