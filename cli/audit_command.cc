// convoy audit: every Conv node of an ONNX model, timed, compared with the limit and checked.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>

#include "command.h"
#include "onnx/measure_conv.h"
#include "onnx/onnx_model.h"
#include "output.h"

namespace convoy::cli {
namespace {

struct Options {
  std::string model;
  int64_t batch = 0;
  std::vector<std::string> dims;
  std::string layout = "nchw";
  std::string dtype;
};

struct Layer {
  const OnnxConv* conv = nullptr;
  std::optional<ConvMeasurement> measured;  // of the nodes in state kReady
};

struct Totals {
  int64_t nodes = 0, audited = 0, skipped = 0, unknown = 0, failed = 0, random_weights = 0;
  double time_us = 0, limit_us = 0;
};

double percent(double limit_us, double time_us) {
  return time_us > 0 ? 100 * limit_us / time_us : 0;
}

Result<OnnxOptions> onnx_options(const Options& options) {
  OnnxOptions out;
  if (options.batch > 0) out.batch = options.batch;
  if (!options.dtype.empty()) out.dtype = dtype_from_name(options.dtype);
  if (options.layout == "nhwc") out.layout = Layout::kNhwc;
  for (const std::string& text : options.dims) {
    const size_t equals = text.rfind('=');
    int64_t size = 0;
    const char* end = text.data() + text.size();
    const char* begin = equals == std::string::npos ? end : text.data() + equals + 1;
    const auto [at, error] = std::from_chars(begin, end, size);
    if (error != std::errc() || at != end || size < 1 || equals == 0) {
      return invalid(
          fmt::format("audit: --dim {} must be NAME=N with N at least 1; write "
                      "--dim height=320",
                      text));
    }
    out.dims[text.substr(0, equals)] = size;
  }
  return out;
}

// The most time lost against the limit first; unknown shapes come before, what is not ours after.
bool worse(const Layer& a, const Layer& b) {
  const auto rank = [](const Layer& l) {
    if (l.conv->state == OnnxConv::State::kUnknown) return 0;
    return l.measured ? 1 : 2;
  };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  if (!a.measured) return a.conv < b.conv;
  const auto lost_us = [](const Layer& l) { return l.measured->time_us - l.measured->limit_us; };
  if (lost_us(a) != lost_us(b)) return lost_us(a) > lost_us(b);
  return a.conv < b.conv;  // of one array: the model's order
}

Totals total(const std::vector<Layer>& layers) {
  Totals t;
  for (const Layer& layer : layers) {
    ++t.nodes;
    if (layer.conv->state == OnnxConv::State::kSkipped) ++t.skipped;
    if (layer.conv->state == OnnxConv::State::kUnknown) ++t.unknown;
    if (!layer.measured) continue;
    ++t.audited;
    if (!layer.measured->check.ok) ++t.failed;
    if (!layer.conv->w) ++t.random_weights;
    t.time_us += layer.measured->time_us;
    t.limit_us += layer.measured->limit_us;
  }
  return t;
}

Json layer_json(const Layer& layer) {
  Json row = {{"node", layer.conv->node}, {"problem", nullptr},  {"kernel", nullptr},
              {"time_us", nullptr},       {"limit_us", nullptr}, {"pct_limit", nullptr},
              {"check", nullptr},         {"skipped", nullptr}};
  if (!layer.measured) {
    row["skipped"] = layer.conv->reason;
    return row;
  }
  const ConvMeasurement& m = *layer.measured;
  row["problem"] = to_text(layer.conv->problem);
  row["kernel"] = m.kernel;
  row["time_us"] = m.time_us;
  row["limit_us"] = m.limit_us;
  row["pct_limit"] = percent(m.limit_us, m.time_us);
  row["check"] = {{"max_abs_err", m.check.max_abs_err},
                  {"max_rel_err", m.check.max_rel_err},
                  {"ok", m.check.ok}};
  return row;
}

void print_document(const std::vector<Layer>& layers, const Totals& t) {
  Json rows = Json::array();
  for (const Layer& layer : layers)
    rows.push_back(layer_json(layer));
  print_json({{"layers", std::move(rows)},
              {"totals",
               {{"nodes", t.nodes},
                {"audited", t.audited},
                {"skipped", t.skipped},
                {"unknown", t.unknown},
                {"failed", t.failed},
                {"random_weights", t.random_weights},
                {"time_us", t.time_us},
                {"limit_us", t.limit_us},
                {"pct_limit", percent(t.limit_us, t.time_us)}}}});
}

void print_table(const std::vector<Layer>& layers, const Totals& t) {
  if (layers.empty()) {
    print_text("no convolution node\n");
    return;
  }
  Table table({"node", "problem", "kernel", "time_us", "limit_us", "pct_limit", "check"});
  for (const Layer& layer : layers) {
    if (!layer.measured) {
      const bool unknown = layer.conv->state == OnnxConv::State::kUnknown;
      table.add({layer.conv->node,
                 fmt::format("{}: {}", unknown ? "unknown shape" : "skipped", layer.conv->reason),
                 "", "", "", "", ""});
      continue;
    }
    const ConvMeasurement& m = *layer.measured;
    table.add({layer.conv->node, to_text(layer.conv->problem), m.kernel, number(m.time_us),
               number(m.limit_us), number(percent(m.limit_us, m.time_us)),
               m.check.ok ? "ok" : fmt::format("FAILED {}", number(m.check.max_abs_err))});
  }
  table.print();
  print_text(
      fmt::format("{} of {} convolution nodes audited, {} skipped, {} of unknown shape, {} failed; "
                  "{} us, limit {} us, {} %\n",
                  t.audited, t.nodes, t.skipped, t.unknown, t.failed, number(t.time_us),
                  number(t.limit_us), number(percent(t.limit_us, t.time_us))));
  if (t.random_weights > 0) {
    print_text(
        fmt::format("{} of them got random weights, since the model computes theirs at run time\n",
                    t.random_weights));
  }
}

// One error line where the audit fails, even where stdout holds the document.
int conclude(const Totals& t, const std::string& model) {
  if (t.failed > 0) {
    std::fputs(fmt::format("convoy: audit: {} of {} nodes of '{}' fail their check; do not use "
                           "this build here\n",
                           t.failed, t.nodes, one_line(model))
                   .c_str(),
               stderr);
    return kCheckFailed;
  }
  if (t.unknown == 0) return kDone;
  std::fputs(fmt::format("convoy: audit: {} of {} nodes of '{}' have no known shape; give --batch "
                         "or --dim, or export the model with its shapes\n",
                         t.unknown, t.nodes, one_line(model))
                 .c_str(),
             stderr);
  return kRefused;
}

Result<int> audit(const Options& options, const Common& common) {
  Result<OnnxOptions> wanted = onnx_options(options);
  if (!wanted) return wanted.status();
  Result<OnnxModel> model = read_onnx(options.model, *wanted);
  if (!model) return model.status();
  // Without a node there is nothing to hold against the ceilings.
  const bool none = model->convs.empty();
  Result<Device> device = none ? open_device_uncalibrated(common) : open_device(common);
  if (!device) return device.status();
  ConvMeasurer measurer(*device, {common.kernel, common.deterministic});
  Progress progress("audit", model->convs.size(), !common.quiet && !common.json);
  std::vector<Layer> layers;
  for (const OnnxConv& conv : model->convs) {
    if (interrupted()) return kInterrupted;
    progress.step(conv.node);
    layers.push_back({&conv, std::nullopt});
    if (conv.state != OnnxConv::State::kReady) continue;
    Result<ConvMeasurement> measured = measurer.measure(conv);
    if (!measured) return measured.status();
    layers.back().measured = *std::move(measured);
  }
  if (interrupted()) return kInterrupted;
  std::sort(layers.begin(), layers.end(), worse);
  const Totals totals = total(layers);
  if (common.json) {
    print_document(layers, totals);
  } else if (!common.quiet) {
    print_table(layers, totals);
  }
  return conclude(totals, options.model);
}

}  // namespace

void add_audit(CLI::App& app, Common& common, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("audit", "time and check every Conv node of an ONNX model");
  command->add_option("model", options->model, "MODEL.onnx")->required();
  command->add_option("--batch", options->batch, "size of a dynamic first axis")
      ->check(CLI::Range(int64_t{1}, std::numeric_limits<int64_t>::max()));
  command->add_option("--dim", options->dims, "size of a dynamic dim: NAME=N, or INPUT.AXIS=N")
      ->type_name("NAME=N")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--layout", options->layout, "memory layout of the activations")
      ->check(CLI::IsMember({"nchw", "nhwc"}))
      ->capture_default_str();
  command->add_option("--dtype", options->dtype, "dtype to compute in (default: the weights')")
      ->check(CLI::IsMember({"f32", "f16", "bf16"}));
  add_kernel_options(*command, common);
  add_device_option(*command, common);
  add_output_options(*command, common);
  command->callback([options, &common, &action] {
    action = [options, &common] { return audit(*options, common); };
  });
}

}  // namespace convoy::cli
