"""The three passes as plain loops over exact integers: written apart from the library."""

import itertools
import struct


class Problem:
    """Spatial fields are lists, outermost axis first; pad holds (begin, end) pairs."""

    def __init__(self, N, cpg, kpg, G, size, filter, stride, pad, dil):
        self.N, self.C, self.K, self.G, self.cpg, self.kpg = N, cpg * G, kpg * G, G, cpg, kpg
        self.size, self.filter, self.stride, self.pad, self.dil = size, filter, stride, pad, dil
        self.out = [(L + sum(p) - d * (r - 1) - 1) // s + 1
                    for L, p, d, r, s in zip(size, pad, dil, filter, stride)]
        self.x_shape = [N, self.C, *size]
        self.w_shape = [self.K, cpg, *filter]
        self.y_shape = [N, self.K, *self.out]

    def terms(self):
        """(x, w, y) positions, flat in C order, of every product that counts."""
        for n, k, c in itertools.product(range(self.N), range(self.K), range(self.cpg)):
            channel = k // self.kpg * self.cpg + c
            for out in itertools.product(*map(range, self.out)):
                for tap in itertools.product(*map(range, self.filter)):
                    at = [o * s + t * d - p[0] for o, s, t, d, p in
                          zip(out, self.stride, tap, self.dil, self.pad)]
                    if all(0 <= a < L for a, L in zip(at, self.size)):
                        yield (_flat(self.x_shape, (n, channel, *at)),
                               _flat(self.w_shape, (k, c, *tap)), _flat(self.y_shape, (n, k, *out)))


def _flat(shape, at):
    index = 0
    for size, i in zip(shape, at):
        index = index * size + i
    return index


def count(shape):
    return _flat(shape, [size - 1 for size in shape]) + 1 if all(shape) else 0


def fprop(p, x, w, bias=None):
    y = [0] * count(p.y_shape)
    for i, j, o in p.terms():
        y[o] += x[i] * w[j]
    if bias is not None:
        plane = count(p.out)
        y = [v + bias[i // plane % p.K] for i, v in enumerate(y)]
    return y


def dgrad(p, dy, w):
    dx = [0] * count(p.x_shape)
    for i, j, o in p.terms():
        dx[i] += dy[o] * w[j]
    return dx


def wgrad(p, x, dy):
    dw = [0] * count(p.w_shape)
    for i, j, o in p.terms():
        dw[j] += x[i] * dy[o]
    return dw


def bias_grad(p, dy):
    db = [0] * p.K
    plane = count(p.out)
    for i, v in enumerate(dy):
        db[i // plane % p.K] += v
    return db


def rounded(value, dtype):
    """What an exact integer becomes in a dtype, to nearest even."""
    if dtype == "f16":
        return struct.unpack("<e", struct.pack("<e", value))[0]
    if dtype != "bf16":
        return float(value)
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16
    return struct.unpack("<f", struct.pack("<I", bits))[0]
