// Roster -> accepted -> costed -> chosen, each step kept for explain().
#include "plan/choose.h"

#include <algorithm>

#include "base/str.h"

namespace convoy {
namespace {

// Why a row may not even be asked, from its facts.
std::optional<Decline> declines_by_facts(const RosterRow& row, const ConvProblem& p,
                                         const DeviceInfo& device) {
  const auto lacks = [](unsigned set, auto value) {
    return (set >> static_cast<unsigned>(value) & 1U) == 0;
  };
  if (row.backend != device.id.backend) return Decline{"runs on another backend"};
  if (lacks(row.passes, p.pass)) return Decline{str("does not compute ", name(p.pass))};
  if (lacks(row.dtypes, p.dtype)) return Decline{str("does not take dtype ", name(p.dtype))};
  if (lacks(row.layouts, p.layout)) return Decline{str("does not take layout ", name(p.layout))};
  return {};
}

Result<std::vector<Accepted>> accept(const ConvProblem& p, const Device& device,
                                     const PlanOptions& options, Explanation& out) {
  std::vector<Accepted> accepted;
  bool known = options.kernel.empty();
  for (const RosterRow& row : roster()) {
    if (row.backend != device.info().id.backend && row.name != options.kernel) continue;
    std::optional<Decline> decline = declines_by_facts(row, p, device.info());
    if (!decline) decline = row.kernel->declines(p, device.info());
    Candidate candidate{.kernel = row.name, .verdict = Verdict::kDeclined};
    if (decline) {
      candidate.reason = decline->reason;
    } else {
      // The batch and the threads may then not steer tiles or the choice.
      ConvProblem costed = p;
      DeviceInfo info = device.info();
      if (options.deterministic) {
        costed.N = 1;
        info.threads = 1;
      }
      Config config = row.kernel->configure(costed, info);
      candidate.estimate_us = row.kernel->estimate_us(costed, config, info);
      candidate.verdict = Verdict::kAccepted;
      candidate.config = config.text;
      accepted.push_back({&row, config, candidate.estimate_us, out.candidates.size()});
    }
    if (row.name == options.kernel) {
      known = true;
      if (decline) {
        return unsupported(str("plan: kernel ", row.name, " declines ", to_text(p), ": ",
                               decline->reason, "; leave out --kernel or name another"));
      }
    }
    out.candidates.push_back(std::move(candidate));
  }
  if (!known) {
    return invalid(str("plan: kernel '", options.kernel,
                       "' is not in the roster; `convoy manifest list` names them"));
  }
  return accepted;
}

// The reasons of those that were accepted and not chosen, and of the winner.
void explain(Choice& choice, const PlanOptions& options) {
  std::vector<Candidate>& candidates = choice.explanation.candidates;
  Candidate& winner = candidates[choice.chosen().candidate];
  winner.verdict = Verdict::kChosen;
  winner.reason = !options.kernel.empty()       ? "named by the caller"
                  : choice.accepted.size() == 1 ? "the only kernel that accepts"
                                                : "the lowest estimate";
  for (const Accepted& a : choice.accepted) {
    Candidate& candidate = candidates[a.candidate];
    if (candidate.verdict != Verdict::kAccepted) continue;
    candidate.reason = a.row->reference ? "the reference judges and does not compete"
                                        : str("estimated slower than ", winner.kernel);
  }
}

}  // namespace

Result<Choice> choose(const ConvProblem& problem, const Device& device,
                      const PlanOptions& options) {
  if (Status s = validate(problem); !s.ok()) return s;
  Choice choice;
  Explanation& out = choice.explanation;
  Result<std::vector<Accepted>> accepted = accept(problem, device, options, out);
  if (!accepted) return accepted.status();
  if (accepted->empty()) {
    return unsupported(str("plan: ", to_text(problem), " has no kernel on ", device.info().name));
  }
  // Cheapest first; a reference kernel only where nobody else accepts.
  std::sort(accepted->begin(), accepted->end(), [](const Accepted& a, const Accepted& b) {
    if (a.row->reference != b.row->reference) return b.row->reference;
    if (a.estimate_us != b.estimate_us) return a.estimate_us < b.estimate_us;
    return a.candidate < b.candidate;
  });
  choice.accepted = *std::move(accepted);
  for (size_t i = 0; i < choice.accepted.size(); ++i) {
    if (choice.accepted[i].row->name == options.kernel) choice.index = i;
  }
  explain(choice, options);
  out.flops = flops(problem);
  out.executed_flops = choice.chosen().config.executed_flops;
  out.bytes = bytes(problem);
  out.limit = limit(out.flops, out.bytes, problem.dtype, device.info().ceilings);
  return choice;
}

}  // namespace convoy
