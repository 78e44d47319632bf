// What commands print: aligned tables or one JSON document on stdout, progress on a terminal's
// stderr.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace convoy::cli {

using Json = nlohmann::ordered_json;

// Text of others (paths, names in models) may hold line ends and escape codes; this shows them as
// \x0a and keeps to one line.
std::string one_line(std::string_view text);

// Writes to stdout; main() asks once, at the end, whether all of it arrived.
void print_text(std::string_view text);

// Prints the one document of --json, non-finite numbers as null.
void print_json(const Json& document);

// Columns as wide as their widest cell; numbers (cells that start with a digit or sign) align
// right.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}
  void add(std::vector<std::string> row);
  void print() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// "12.3", "0.0457": three significant digits for a table.
std::string number(double value);

// A bar on stderr for work over a second, only on a terminal and without --quiet or --json.
class Progress {
 public:
  Progress(std::string label, size_t total, bool enabled);
  ~Progress();
  void step(std::string_view what);

 private:
  std::string label_;
  size_t total_, done_ = 0;
  bool enabled_;
  bool shown_ = false;
  double start_;
};

// True after Ctrl-C or SIGTERM; long work asks between steps and leaves nothing behind.
bool interrupted();
void catch_interrupts();

}  // namespace convoy::cli
