// Offsets past 32 bits: small problems under a low index limit, then tensors past 2^31 elements.
#include <memory>

#include "base/str.h"
#include "bench/operands.h"
#include "device/mode.h"

namespace convoy::test {
namespace {

constexpr int64_t kLimit = 600;       // elements; most draws have tensors on both sides of it
constexpr int64_t kPool = 1'048'573;  // elements, odd, so that no tile repeats

// Device memory filled with normal values of `dtype`, repeated.
Result<Buffer> filled(const Device& device, DType dtype, int64_t elements) {
  const int64_t size = size_of(dtype);
  std::vector<std::byte> pool(static_cast<size_t>(kPool * size));
  const int64_t sizes[1] = {kPool};
  if (Status s = bench::fill_normal(packed(pool.data(), dtype, sizes), 7); !s.ok()) return s;
  Result<Buffer> buffer = Buffer::allocate(device, static_cast<size_t>(elements * size));
  if (!buffer) return buffer.status();
  auto* const to = static_cast<std::byte*>(buffer->data());
  const auto total = static_cast<size_t>(elements * size);
  size_t done = std::min(pool.size(), total);
  if (Status s = copy_bytes(device, to, pool.data(), done); !s.ok()) return s;
  while (done < total) {
    const size_t next = std::min(done, total - done);
    if (Status s = copy_bytes(device, to + done, to, next); !s.ok()) return s;
    done += next;
  }
  if (Status s = synchronize(device); !s.ok()) return s;
  return buffer;
}

// y starts as a copy of normal values, which no convolution of the same values gives.
Status run_checked(const ConvProblem& p, const RunArgs& args, const Device& device,
                   ModeReport& report) {
  const Result<Plan> chosen = plan(p, device);
  if (!chosen) return chosen.status();
  if (Status s = chosen->run(args); !s.ok()) return s;
  if (Status s = synchronize(device); !s.ok()) return s;
  const Result<CheckReport> checked = check(p, args, device);
  if (!checked) return checked.status();
  ++report.runs;
  report.facts["large"].push_back({{"problem", to_text(p)},
                                   {"kernel", chosen->kernel()},
                                   {"max_abs_err", checked->max_abs_err},
                                   {"ok", checked->ok}});
  if (!checked->ok) {
    report.failures.push_back(
        str(to_text(p), " by ", chosen->kernel(), ": max_abs_err ", checked->max_abs_err));
  }
  return {};
}

// Two images whose views start 2^31 elements apart, inside the buffers.
TensorView far_apart(void* memory, const ConvProblem& p, const Shape& shape, DeviceId id) {
  TensorView view = packed(memory, p.dtype, shape.span(), p.layout, id);
  view.strides[0] = (int64_t{1} << 31) + 24;
  return view;
}

Status run_large(const Device& device, ModeReport& report) {
  ConvProblem p = *parse_problem("conv2d fprop f16 n1408 c512 k512 g512 h56 w56 r3 s3 pad1 nhwc");
  const DeviceId id = device.info().id;
  const int64_t elements = p.N * p.C * p.in[1] * p.in[2];
  const Result<Buffer> x = filled(device, p.dtype, elements), y = filled(device, p.dtype, elements);
  const Result<Buffer> w = filled(device, p.dtype, 1 << 20);
  for (const auto* buffer : {&x, &y, &w}) {
    if (!*buffer) return buffer->status();
  }
  for (const Layout layout : {Layout::kNhwc, Layout::kNchw}) {
    p.layout = layout;
    const RunArgs args{.x = packed(x->data(), p.dtype, x_shape(p).span(), layout, id),
                       .w = packed(w->data(), p.dtype, w_shape(p).span(), layout, id),
                       .y = packed(y->data(), p.dtype, y_shape(p).span(), layout, id)};
    if (Status s = run_checked(p, args, device, report); !s.ok()) return s;
  }
  for (const char* text : {"conv2d fprop f16 n2 c64 k64 g8 h9 w11 r3 s3 pad1 nhwc",
                           "conv2d fprop f16 n2 c64 k64 g64 h9 w11 r5 s5 pad2",
                           "conv1d fprop f16 n2 c32 k32 g32 w50 s4 causal nhwc"}) {
    const ConvProblem far = *parse_problem(text);
    const RunArgs args{.x = far_apart(x->data(), far, x_shape(far), id),
                       .w = packed(w->data(), far.dtype, w_shape(far).span(), far.layout, id),
                       .y = far_apart(y->data(), far, y_shape(far), id)};
    if (Status s = run_checked(far, args, device, report); !s.ok()) return s;
  }
  return {};
}

}  // namespace

ModeReport run_big_offsets(const Context& context) {
  DeviceInfo info = context.device.info();
  info.index_limit = kLimit;
  Context limited = context;
  limited.device = Device(info);
  limited.every_kernel = false;
  limited.configurations = context.configurations / 8;
  limited.draws = context.draws / 4;
  ModeReport report = sweep(limited, "big-offsets");
  if (const Status s = run_large(context.device, report); !s.ok()) {
    const bool small = s.code() == Code::kUnavailable;
    report.facts["large_skipped"] = s.message();
    if (!small) report.failures.push_back(str("large tensors: ", s.message()));
  }
  return report;
}

}  // namespace convoy::test
