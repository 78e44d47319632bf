"""Reads and writes .npy files with the standard library alone."""

import ast
import itertools
import struct

_CODES = {"2": "e", "4": "f", "8": "d"}


def product(shape):
    total = 1
    for size in shape:
        total *= size
    return total


def save(path, shape, values, descr="<f4", fortran=False):
    """`values` are in C order whatever the order of the file."""
    if fortran:
        strides = [product(shape[i + 1:]) for i in range(len(shape))]
        reverse = itertools.product(*(range(size) for size in reversed(shape)))
        values = [values[sum(i * s for i, s in zip(reversed(at), strides))] for at in reverse]
    head = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (descr, fortran, tuple(shape))
    head += " " * (-(len(head) + 11) % 64) + "\n"
    data = struct.pack("%s%d%s" % (descr[0], len(values), _CODES[descr[2]]), *values)
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)


def load(path):
    """(descr, shape, values) of a version 1.0 file in C order."""
    with open(path, "rb") as file:
        whole = file.read()
    assert whole[:8] == b"\x93NUMPY\x01\x00", whole[:8]
    end = 10 + struct.unpack("<H", whole[8:10])[0]
    head = ast.literal_eval(whole[10:end].decode())
    assert not head["fortran_order"]
    code = "<%d%s" % (product(head["shape"]), _CODES[head["descr"][2]])
    return head["descr"], head["shape"], list(struct.unpack(code, whole[end:]))


def fill(seed, most, count):
    """The fill rule of the field cases: small integers that look random."""
    values = []
    for i in range(count):
        v = ((i + 1000003 * seed) * 747796405 + 2891336453) & 0xFFFFFFFF
        u = (((v >> ((v >> 28) + 4)) ^ v) * 277803737) & 0xFFFFFFFF
        values.append(((u >> 22) ^ u) % (2 * most + 1) - most)
    return values
