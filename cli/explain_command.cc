// `convoy explain`: every candidate for a problem, and what the problem costs on this machine.
#include <fmt/format.h>

#include "command.h"
#include "output.h"

namespace convoy::cli {
namespace {

Json candidate_json(const Candidate& c) {
  const bool declined = c.verdict == Verdict::kDeclined;
  return {{"kernel", c.kernel},
          {"verdict", name(c.verdict)},
          {"reason", c.reason},
          {"config", c.config},
          {"estimate_us", declined ? Json() : Json(c.estimate_us)}};
}

const char* bound_by(const Limit& limit) {
  return limit.by_compute ? "compute" : "copy";
}

void print_document(const std::string& problem, const Explanation& e, const Limit& limit) {
  Json candidates = Json::array();
  for (const Candidate& c : e.candidates)
    candidates.push_back(candidate_json(c));
  print_json({{"problem", problem},
              {"candidates", std::move(candidates)},
              {"flops", e.flops},
              {"executed_flops", e.executed_flops},
              {"bytes", e.bytes},
              {"limit_us", limit.us},
              {"limit_by", bound_by(limit)}});
}

void print_tables(const std::string& problem, const Explanation& e, const Limit& limit) {
  print_text(problem + "\n\n");
  Table candidates({"kernel", "verdict", "estimate_us", "config", "reason"});
  for (const Candidate& c : e.candidates) {
    const bool declined = c.verdict == Verdict::kDeclined;
    candidates.add(
        {c.kernel, name(c.verdict), declined ? "" : number(c.estimate_us), c.config, c.reason});
  }
  candidates.print();
  print_text(fmt::format("\nflops: {}\nexecuted flops: {}\nbytes: {}\nlimit: {} us, by {}\n",
                         e.flops, e.executed_flops, e.bytes, number(limit.us), bound_by(limit)));
}

Result<int> explain(const std::string& text, const Common& common) {
  const Result<ConvProblem> problem = parse_problem(text);
  if (!problem) return problem.status();
  // The choice is the one that `run` and the library make, which know no measured ceilings.
  const Result<Device> plain = open_device_uncalibrated(common);
  if (!plain) return plain.status();
  const Result<Plan> plan = convoy::plan(
      *problem, *plain, {.kernel = common.kernel, .deterministic = common.deterministic});
  if (!plan) return plan.status();
  const Result<Device> measured = open_device(common);
  if (!measured) return measured.status();
  const Explanation& e = plan->explain();
  const Limit bound = limit(e.flops, e.bytes, problem->dtype, measured->info().ceilings);
  (common.json ? print_document : print_tables)(to_text(*problem), e, bound);
  return kDone;
}

}  // namespace

void add_explain(CLI::App& app, Common& common, Action& action) {
  auto problem = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("explain", "Show every candidate kernel and the limit");
  command->add_option("problem", *problem, "The problem text, complete")->required();
  add_kernel_options(*command, common);
  add_device_option(*command, common);
  add_output_options(*command, common);
  command->callback([problem, &common, &action] {
    action = [problem, &common] { return explain(*problem, common); };
  });
}

}  // namespace convoy::cli
