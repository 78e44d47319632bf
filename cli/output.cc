// Tables, JSON documents and the progress bar.
#include "output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace convoy::cli {
namespace {

bool is_number(std::string_view cell) {
  return !cell.empty() && std::string_view("+-0123456789").find(cell[0]) != std::string_view::npos;
}

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      line += fmt::format("\\x{:02x}", byte);
    } else {
      line += c;
    }
  }
  return line;
}

void print_text(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void print_json(const Json& document) {
  // Paths may hold any bytes; JSON holds UTF-8.
  print_text(document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

void Table::add(std::vector<std::string> row) {
  for (std::string& cell : row)
    cell = one_line(cell);
  rows_.push_back(std::move(row));
}

void Table::print() const {
  std::vector<size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += is_number(row[i]) ? fmt::format("{:>{}}", row[i], widths[i])
                                : fmt::format("{:<{}}", row[i], widths[i]);
      line += "  ";
    }
    print_text(line.substr(0, line.find_last_not_of(' ') + 1) + "\n");
  }
}

std::string number(double value) {
  if (!std::isfinite(value)) return fmt::format("{}", value);
  const double magnitude = std::abs(value);
  if (value == 0) return "0";
  if (magnitude < 1e-4) return fmt::format("{:.2e}", value);
  if (magnitude >= 99.95) return fmt::format("{:.0f}", value);
  // Digits after the point that keep three significant ones once 9.996 has become 10.0.
  const int digits = 2 - static_cast<int>(std::floor(std::log10(magnitude * 1.0005)));
  return fmt::format("{:.{}f}", value, digits);
}

Progress::Progress(std::string label, size_t total, bool enabled)
    : label_(std::move(label)),
      total_(total),
      enabled_(enabled && ::isatty(STDERR_FILENO) == 1),
      start_(seconds()) {}

void Progress::step(std::string_view what) {
  ++done_;
  if (!enabled_ || seconds() - start_ < 1) return;
  constexpr size_t kWidth = 24;
  const size_t filled = total_ == 0 ? kWidth : std::min(done_, total_) * kWidth / total_;
  shown_ = true;
  const std::string bar =
      fmt::format("\r\x1b[K{} [{:<{}}] {}/{} {}", label_, std::string(filled, '#'), kWidth, done_,
                  total_, one_line(what.substr(0, 60)));
  std::fputs(bar.c_str(), stderr);
  std::fflush(stderr);
}

Progress::~Progress() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
}

}  // namespace convoy::cli
