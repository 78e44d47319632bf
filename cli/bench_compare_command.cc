// `convoy bench-compare`: two records of one machine and suite, row by row.
#include <fmt/format.h>

#include <algorithm>

#include "bench/compare.h"
#include "command.h"
#include "files.h"
#include "output.h"

namespace convoy::cli {
namespace {

constexpr bench::Change kChanges[] = {bench::Change::kSlower, bench::Change::kFaster,
                                      bench::Change::kSame, bench::Change::kGone,
                                      bench::Change::kNew};

int64_t count(const bench::Comparison& c, bench::Change change) {
  return std::count_if(c.rows.begin(), c.rows.end(),
                       [&](const bench::Delta& d) { return d.change == change; });
}

void print_document(const bench::Comparison& c, const std::string& a, const std::string& b) {
  Json rows = Json::array();
  for (const bench::Delta& d : c.rows) {
    rows.push_back({{"problem", d.problem},
                    {"cache", d.cache},
                    {"impl", d.impl},
                    {"a_us", d.a_us},
                    {"b_us", d.b_us},
                    {"change_pct", d.percent()},
                    {"noise_us", d.noise_us},
                    {"verdict", bench::name(d.change)}});
  }
  Json totals = Json::object();
  for (const bench::Change change : kChanges)
    totals[bench::name(change)] = count(c, change);
  print_json({{"machine", c.machine}, {"a", a}, {"b", b}, {"rows", rows}, {"totals", totals}});
}

void print_table(const bench::Comparison& c) {
  Table table({"verdict", "change %", "a_us", "b_us", "noise_us", "cache", "impl", "problem"});
  for (const bench::Delta& d : c.rows) {
    table.add({bench::name(d.change), number(d.percent()), number(d.a_us), number(d.b_us),
               number(d.noise_us), d.cache, d.impl, d.problem});
  }
  table.print();
  std::string totals;
  for (const bench::Change change : kChanges)
    totals +=
        fmt::format("{}{} {}", totals.empty() ? "" : ", ", count(c, change), bench::name(change));
  print_text("\n" + totals + "\n");
}

Result<int> compare_command(const std::string& a, const std::string& b, const Common& common) {
  const Result<std::string> a_text = read_file(a, "record");
  if (!a_text) return a_text.status();
  const Result<std::string> b_text = read_file(b, "record");
  if (!b_text) return b_text.status();
  const Result<bench::Comparison> compared = bench::compare(*a_text, *b_text, a, b);
  if (!compared) return compared.status();
  if (common.json) {
    print_document(*compared, a, b);
  } else if (!common.quiet) {
    print_table(*compared);
  }
  return kDone;
}

}  // namespace

void add_bench_compare(CLI::App& app, Common& common, Action& action) {
  struct Files {
    std::string a, b;
  };
  auto files = std::make_shared<Files>();
  CLI::App* command =
      app.add_subcommand("bench-compare", "Judge a record against another, row by row");
  command->add_option("A", files->a, "The record to compare with")->required();
  command->add_option("B", files->b, "The record to judge")->required();
  add_output_options(*command, common);
  command->callback([files, &common, &action] {
    action = [files, &common] { return compare_command(files->a, files->b, common); };
  });
}

}  // namespace convoy::cli
