// Fills a Geometry from a problem and the operands of one call.
#include "kernel/cpu/geometry.h"

#include <algorithm>

#include "kernel/operand.h"

namespace convoy {

Geometry geometry(const ConvProblem& p, const RunArgs& args) {
  Geometry g = {};
  g.dtype = p.dtype;
  g.N = p.N;
  g.C = p.C;
  g.K = p.K;
  g.cpg = p.cpg();
  g.kpg = p.kpg();
  for (int d = 0; d < 3; ++d) {
    g.in[d] = p.in[d];
    g.out[d] = out_extent(p, d);
    g.filter[d] = p.filter[d];
    g.stride[d] = p.stride[d];
    g.dilation[d] = p.dilation[d];
    g.pad[d] = p.pad_lo[d];
  }
  g.x = args.x.data;
  g.y = args.y.data;
  const auto x = operand<const float>(args.x), y = operand<const float>(args.y);
  std::copy(x.stride.begin(), x.stride.end(), g.x_stride);
  std::copy(y.stride.begin(), y.stride.end(), g.y_stride);
  g.epilogue = epilogue(p, args);
  return g;
}

}  // namespace convoy
