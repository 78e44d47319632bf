// `convoy run`: computes one problem on real arrays.
#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "command.h"
#include "device_memory.h"
#include "npy.h"
#include "output.h"
#include "report.h"
#include "run_problem.h"
#include "run_result.h"

namespace convoy::cli {
namespace {

using Path = std::optional<std::string>;

struct RunOptions {
  std::string problem, out;
  Path x, w, bias, dy, out_db;
  bool check = false;
};

// What is missing for the pass or has no part in it; nothing where the options fit.
std::optional<std::string> option_fault(const RunOptions& o, Pass pass) {
  struct Rule {
    const char* option;
    const Path* path;
    bool needed, allowed;
  };
  const bool fprop = pass == Pass::kFprop, dgrad = pass == Pass::kDgrad,
             wgrad = pass == Pass::kWgrad;
  // --bias in dgrad is left to validate(): the problem is wrong, not the command line.
  for (const Rule& rule :
       {Rule{"--x", &o.x, !dgrad, !dgrad}, Rule{"--w", &o.w, !wgrad, !wgrad},
        Rule{"--dy", &o.dy, !fprop, !fprop}, Rule{"--bias", &o.bias, false, !wgrad},
        Rule{"--out-db", &o.out_db, false, wgrad}}) {
    if (rule.needed && !*rule.path) {
      return fmt::format("run: {} needs {}; add {} FILE.npy", name(pass), rule.option, rule.option);
    }
    if (!rule.allowed && *rule.path) {
      return fmt::format("run: {} has no part in {}; leave it out", rule.option, name(pass));
    }
  }
  return {};
}

struct Arrays {
  NpyArray x, w, dy, bias;
};

Result<Arrays> read_arrays(const RunOptions& o) {
  Arrays arrays;
  struct Source {
    const char* what;
    const Path* path;
    NpyArray* array;
  };
  for (const Source& source :
       {Source{"x", &o.x, &arrays.x}, Source{"w", &o.w, &arrays.w}, Source{"dy", &o.dy, &arrays.dy},
        Source{"bias", &o.bias, &arrays.bias}}) {
    if (!*source.path) continue;
    Result<NpyArray> array = read_npy(**source.path, source.what);
    if (!array) return array.status();
    *source.array = *std::move(array);
  }
  return arrays;
}

// Memory of the operands and the views that the plan gets.
struct Operands {
  std::vector<Tensor> tensors;
  RunArgs args;
};

Status add_input(const Device& device, const ConvProblem& p, DType dtype, NpyArray array,
                 TensorView& view, Operands& operands) {
  if (array.header.shape.empty()) return {};
  Result<Tensor> tensor =
      allocate_filled(device, dtype, array.header.shape, p.layout,
                      [&](const TensorView& host) { decode_npy(array.header, array.data, host); });
  if (!tensor) return tensor.status();
  view = tensor->view;
  operands.tensors.push_back(*std::move(tensor));
  return {};
}

Status add_output(const Device& device, const ConvProblem& p, DType dtype, const Shape& shape,
                  TensorView& view, Operands& operands) {
  // Memory that is promised but not there would end the process at its first use.
  double bytes = size_of(dtype);
  for (const int64_t size : shape.span())
    bytes *= static_cast<double>(size);
  if (bytes > static_cast<double>(device.info().memory_bytes)) {
    return unavailable(
        fmt::format("run: an output of shape {} exceeds the memory of {} bytes; use "
                    "a smaller problem",
                    shape_text(shape.span()), device.info().memory_bytes));
  }
  Result<Tensor> tensor = allocate_poisoned(device, dtype, shape.span(), p.layout);
  if (!tensor) return tensor.status();
  view = tensor->view;
  operands.tensors.push_back(*std::move(tensor));
  return {};
}

Result<Operands> make_operands(const RunOptions& o, const Device& device, const ConvProblem& p,
                               Arrays arrays) {
  Operands operands;
  RunArgs& args = operands.args;
  struct Input {
    DType dtype;
    NpyArray* array;
    TensorView* view;
  };
  for (const Input& in :
       {Input{p.dtype, &arrays.x, &args.x}, Input{p.dtype, &arrays.w, &args.w},
        Input{p.dtype, &arrays.dy, &args.dy}, Input{bias_dtype(p), &arrays.bias, &args.bias}}) {
    Status added = add_input(device, p, in.dtype, std::move(*in.array), *in.view, operands);
    if (!added.ok()) return added;
  }
  const Shape shape = p.pass == Pass::kFprop   ? y_shape(p)
                      : p.pass == Pass::kDgrad ? x_shape(p)
                                               : w_shape(p);
  TensorView& out = p.pass == Pass::kFprop ? args.y : p.pass == Pass::kDgrad ? args.dx : args.dw;
  if (Status s = add_output(device, p, p.dtype, shape, out, operands); !s.ok()) return s;
  if (o.out_db) {
    Status added = add_output(device, p, bias_dtype(p), bias_shape(p), args.db, operands);
    if (!added.ok()) return added;
  }
  return operands;
}

// Runs twice; gives the microseconds of the second time.
Result<double> execute(const Plan& plan, const Device& device, RunArgs& args) {
  const Result<Buffer> workspace = Buffer::allocate(device, plan.workspace_bytes());
  if (!workspace) return workspace.status();
  args.workspace = workspace->data();
  args.workspace_bytes = workspace->bytes();
  std::chrono::duration<double, std::micro> elapsed{};
  for (int i = 0; i < 2; ++i) {
    const auto start = std::chrono::steady_clock::now();
    if (Status s = plan.run(args); !s.ok()) return s;
    if (Status s = synchronize(device); !s.ok()) return s;
    elapsed = std::chrono::steady_clock::now() - start;
  }
  args.workspace = nullptr;
  args.workspace_bytes = 0;
  return elapsed.count();
}

// Of results in host memory.
std::vector<ResultFile> result_files(const RunOptions& o, const TensorView& out,
                                     const TensorView& db) {
  std::vector<ResultFile> files = {{o.out, out, "--out"}};
  if (o.out_db) files.push_back({*o.out_db, db, "--out-db"});
  return files;
}

Result<ConvProblem> problem_for(const RunOptions& o, PartialProblem text, const Arrays& arrays) {
  BiasType& bias = text.fields.bias;
  if (o.bias && bias == BiasType::kNone) bias = BiasType::kSame;
  if (text.fields.pass == Pass::kFprop && bias != BiasType::kNone && !o.bias) {
    return invalid("run: the text says bias but no array is named; add --bias FILE.npy");
  }
  const bool biased = text.fields.pass == Pass::kFprop;
  return problem_of_arrays(text,
                           {.x = arrays.x.header.shape,
                            .w = arrays.w.header.shape,
                            .dy = arrays.dy.header.shape,
                            .bias = biased ? arrays.bias.header.shape : std::vector<int64_t>()});
}

Result<int> run(const RunOptions& o, const Common& common) {
  const Result<PartialProblem> text = parse_partial(o.problem);
  if (!text) return text.status();
  if (const auto fault = option_fault(o, text->fields.pass)) return usage_error(common, *fault);
  if (o.out_db && *o.out_db == o.out) {
    return invalid(fmt::format("run: --out-db '{}' must differ from --out; name two files", o.out));
  }
  const Result<Device> device = open_device_uncalibrated(common);
  if (!device) return device.status();
  Result<Arrays> arrays = read_arrays(o);
  if (!arrays) return arrays.status();
  const Result<ConvProblem> problem = problem_for(o, *text, *arrays);
  if (!problem) return problem.status();
  const Result<Plan> plan = convoy::plan(
      *problem, *device, {.kernel = common.kernel, .deterministic = common.deterministic});
  if (!plan) return plan.status();
  Result<Operands> operands = make_operands(o, *device, *problem, *std::move(arrays));
  if (!operands) return operands.status();
  const Result<double> time_us = execute(*plan, *device, operands->args);
  if (!time_us) return time_us.status();
  RunOutcome outcome{.problem = to_text(*problem),
                     .kernel = std::string(plan->kernel()),
                     .device = id_text(device->info().id),
                     .time_us = *time_us};
  if (o.check) {
    const Result<CheckReport> report = convoy::check(*problem, operands->args, *device);
    if (!report) return report.status();
    outcome.check = *report;
  }
  if (interrupted()) return kInterrupted;
  const RunArgs& args = operands->args;
  const Pass pass = problem->pass;
  const Result<HostTensor> out = to_host(pass == Pass::kFprop   ? args.y
                                         : pass == Pass::kDgrad ? args.dx
                                                                : args.dw);
  if (!out) return out.status();
  const Result<HostTensor> db = to_host(args.db);
  if (!db) return db.status();
  return finish_run(outcome, result_files(o, out->view, db->view), common);
}

}  // namespace

void add_run(CLI::App& app, Common& common, Action& action) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Compute a problem on .npy arrays");
  command->add_option("problem", options->problem, "The problem text; arrays may say its sizes")
      ->required();
  command->add_option("--x", options->x, "Input (N,C,[D,][H,]W): fprop, wgrad");
  command->add_option("--w", options->w, "Weight (K,C/g,[T,][R,]S): fprop, dgrad");
  command->add_option("--bias", options->bias, "Bias (K): fprop; implies the token bias");
  command->add_option("--dy", options->dy, "Output gradient (N,K,[Z,][P,]Q): dgrad, wgrad");
  command->add_option("--out", options->out, "Result: y, dx or dw")->required();
  command->add_option("--out-db", options->out_db, "Bias gradient (K): wgrad");
  command->add_flag("--check", options->check, "Compare with the f64 reference first");
  add_kernel_options(*command, common);
  add_device_option(*command, common);
  add_output_options(*command, common);
  command->callback([options, &common, &action] {
    action = [options, &common] { return run(*options, common); };
  });
}

}  // namespace convoy::cli
