// Devices, plans, packed weights and runs through the C interface.
#include <algorithm>
#include <memory>

#include "api/c_support.h"
#include "base/str.h"

namespace convoy::c_api {
namespace {

static_assert(static_cast<int>(DType::kF32) == CONVOY_F32);
static_assert(static_cast<int>(DType::kTf32) == CONVOY_TF32);
static_assert(static_cast<int>(DType::kF16) == CONVOY_F16);
static_assert(static_cast<int>(DType::kBf16) == CONVOY_BF16);
static_assert(static_cast<int>(Verdict::kDeclined) == CONVOY_DECLINED);
static_assert(kMaxRank == CONVOY_MAX_RANK);

// An absent tensor is an empty view.
Status view_of(const char* name, const convoy_tensor* from, const Device& device, TensorView& to) {
  if (from == nullptr) return {};
  if (Status s = check_size("convoy_tensor", from->struct_size, sizeof *from); !s.ok()) return s;
  if (from->dtype < CONVOY_F32 || from->dtype > CONVOY_BF16) {
    return invalid(
        str("tensor ", name, ": dtype=", from->dtype, " must be a convoy_dtype; use CONVOY_F32"));
  }
  if (from->rank < 1 || from->rank > kMaxRank) {
    return invalid(str("tensor ", name, ": rank=", from->rank, " must be from 1 to ", kMaxRank,
                       "; pass null where there is no tensor"));
  }
  to.data = from->data;
  to.device = device.info().id;
  to.dtype = static_cast<DType>(from->dtype);
  to.rank = from->rank;
  std::copy_n(from->sizes, from->rank, to.sizes.begin());
  std::copy_n(from->strides, from->rank, to.strides.begin());
  return {};
}

Status run(const convoy_plan& plan, const convoy_run_args& from) {
  if (Status s = check_size("convoy_run_args", from.struct_size, sizeof from); !s.ok()) return s;
  RunArgs args{.workspace = from.workspace, .workspace_bytes = from.workspace_bytes};
  const struct {
    const char* name;
    const convoy_tensor* from;
    TensorView* to;
  } operands[] = {{"x", from.x, &args.x},          {"w", from.w, &args.w},
                  {"bias", from.bias, &args.bias}, {"y", from.y, &args.y},
                  {"dy", from.dy, &args.dy},       {"dx", from.dx, &args.dx},
                  {"dw", from.dw, &args.dw},       {"db", from.db, &args.db}};
  for (const auto& operand : operands) {
    if (Status s = view_of(operand.name, operand.from, plan.device, *operand.to); !s.ok()) return s;
  }
  if (from.packed != nullptr) args.packed = &from.packed->weights;
  if (Status s = plan.plan.run(args); !s.ok()) return s;
  return synchronize(plan.device);
}

// Calls use(*plan); `has_out`: the caller gave a place for the answer.
template <class Use>
convoy_status with_plan(const char* function, const convoy_plan* plan, bool has_out,
                        const Use& use) noexcept {
  return guarded(function, [&]() -> Status {
    if (Status s = not_null(function, "plan", plan != nullptr); !s.ok()) return s;
    if (Status s = not_null(function, "args or the output", has_out); !s.ok()) return s;
    return use(*plan);
  });
}

const char* text_of(const char* function, const convoy_plan* plan,
                    const char* (*get)(const convoy_plan&)) noexcept {
  const char* text = nullptr;
  with_plan(function, plan, true, [&](const convoy_plan& p) -> Status {
    text = get(p);
    return {};
  });
  return text;
}

Status create_plan(const char* text, const Device& device, const convoy_plan_options* from,
                   convoy_plan** out) {
  PlanOptions options;
  if (from != nullptr) {
    if (Status s = check_size("convoy_plan_options", from->struct_size, sizeof *from); !s.ok()) {
      return s;
    }
    if (from->kernel != nullptr) options.kernel = from->kernel;
    options.deterministic = from->deterministic != 0;
  }
  const Result<ConvProblem> problem = parse_problem(text);
  if (!problem) return problem.status();
  const Result<Plan> made = plan(*problem, device, options);
  if (!made) return made.status();
  *out = std::make_unique<convoy_plan>(convoy_plan{*made, to_text(*problem), device}).release();
  return {};
}

}  // namespace
}  // namespace convoy::c_api

using namespace convoy;  // NOLINT(google-build-using-namespace): the definitions below are C names.
using namespace convoy::c_api;  // NOLINT(google-build-using-namespace): likewise.

convoy_status convoy_device_open(const char* name, convoy_device** opened) {
  const char* function = __func__;
  return guarded(function, [&]() -> Status {
    if (Status s = not_null(function, "name", name != nullptr); !s.ok()) return s;
    if (Status s = not_null(function, "device", opened != nullptr); !s.ok()) return s;
    const Result<Device> found = device(name);
    if (!found) return found.status();
    *opened = std::make_unique<convoy_device>(convoy_device{*found}).release();
    return {};
  });
}

void convoy_device_free(convoy_device* device) {
  delete device;
}

convoy_status convoy_plan_create(const char* problem, const convoy_device* device,
                                 const convoy_plan_options* options, convoy_plan** plan) {
  const char* function = __func__;
  return guarded(function, [&]() -> Status {
    if (Status s = not_null(function, "problem", problem != nullptr); !s.ok()) return s;
    if (Status s = not_null(function, "device", device != nullptr); !s.ok()) return s;
    if (Status s = not_null(function, "plan", plan != nullptr); !s.ok()) return s;
    return create_plan(problem, device->device, options, plan);
  });
}

void convoy_plan_free(convoy_plan* plan) {
  delete plan;
}

const char* convoy_plan_kernel(const convoy_plan* plan) {
  return text_of(__func__, plan, [](const convoy_plan& p) { return p.plan.kernel().c_str(); });
}

const char* convoy_plan_config(const convoy_plan* plan) {
  return text_of(__func__, plan, [](const convoy_plan& p) { return p.plan.config().c_str(); });
}

const char* convoy_plan_problem(const convoy_plan* plan) {
  return text_of(__func__, plan, [](const convoy_plan& p) { return p.problem.c_str(); });
}

convoy_status convoy_plan_workspace_bytes(const convoy_plan* plan, size_t* count) {
  return with_plan(__func__, plan, count != nullptr, [&](const convoy_plan& p) -> Status {
    *count = p.plan.workspace_bytes();
    return {};
  });
}

convoy_status convoy_plan_candidate_count(const convoy_plan* plan, size_t* count) {
  return with_plan(__func__, plan, count != nullptr, [&](const convoy_plan& p) -> Status {
    *count = p.plan.explain().candidates.size();
    return {};
  });
}

convoy_status convoy_plan_candidate(const convoy_plan* plan, size_t index, convoy_candidate* out) {
  return with_plan(__func__, plan, out != nullptr, [&](const convoy_plan& p) -> Status {
    if (Status s = check_size("convoy_candidate", out->struct_size, sizeof *out); !s.ok()) return s;
    const std::vector<Candidate>& all = p.plan.explain().candidates;
    if (index >= all.size()) {
      return invalid(str("convoy_plan_candidate: index=", index, " must be below the count ",
                         all.size(), "; ask convoy_plan_candidate_count"));
    }
    const Candidate& c = all[index];
    *out = {sizeof *out,
            c.kernel.c_str(),
            c.reason.c_str(),
            c.config.c_str(),
            static_cast<int32_t>(c.verdict),
            c.estimate_us};
    return {};
  });
}

convoy_status convoy_plan_run(const convoy_plan* plan, const convoy_run_args* args) {
  return with_plan(__func__, plan, args != nullptr,
                   [&](const convoy_plan& p) { return run(p, *args); });
}

convoy_status convoy_plan_pack_weights(const convoy_plan* plan, const convoy_tensor* w,
                                       convoy_packed** packed) {
  const char* function = __func__;
  return with_plan(function, plan, packed != nullptr, [&](const convoy_plan& p) -> Status {
    if (Status s = not_null(function, "w", w != nullptr); !s.ok()) return s;
    TensorView view;
    if (Status s = view_of("w", w, p.device, view); !s.ok()) return s;
    Result<PackedWeights> weights = p.plan.pack_weights(view);
    if (!weights) return weights.status();
    *packed = std::make_unique<convoy_packed>(convoy_packed{*std::move(weights)}).release();
    return {};
  });
}

void convoy_packed_free(convoy_packed* packed) {
  delete packed;
}
