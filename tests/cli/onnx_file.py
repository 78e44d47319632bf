"""Writes small ONNX models with the standard library alone: protobuf's wire format by hand."""

import struct

import npy

FLOAT = 1  # TensorProto.DataType
INT, INTS = 2, 7  # AttributeProto.AttributeType


def _varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def _number(field, value):
    return _varint(field << 3) + _varint(value)


def _bytes(field, value):
    value = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _value_info(name, shape):
    dims = b"".join(_bytes(1, _bytes(2, d) if isinstance(d, str) else _number(1, d)) for d in shape)
    return _bytes(1, name) + _bytes(2, _bytes(1, _number(1, FLOAT) + _bytes(2, dims)))


def _tensor(name, shape):
    values = npy.fill(1, 3, npy.product(shape))
    return (b"".join(_number(1, d) for d in shape) + _number(2, FLOAT) + _bytes(8, name)
            + _bytes(9, struct.pack("<%df" % len(values), *values)))


def _attribute(name, value):
    if isinstance(value, int):
        return _bytes(1, name) + _number(3, value) + _number(20, INT)
    return _bytes(1, name) + b"".join(_number(8, v) for v in value) + _number(20, INTS)


def conv(name, weight, source="x", target="y", **attributes):
    """A Conv node and its weight, of shape `weight` and small integers."""
    node = _bytes(1, source) + _bytes(1, name + ".w") + _bytes(2, target) + _bytes(3, name)
    node += _bytes(4, "Conv")
    node += b"".join(_bytes(5, _attribute(key, value)) for key, value in attributes.items())
    return _bytes(1, node) + _bytes(5, _tensor(name + ".w", weight))


def node(op, source, target):
    return _bytes(1, _bytes(1, source) + _bytes(2, target) + _bytes(3, op.lower()) + _bytes(4, op))


def save(path, *parts, x=(1, 4, 8, 8)):
    """A model whose input x has shape `x`; a text there is a dynamic dim."""
    graph = b"".join(parts) + _bytes(2, "g") + _bytes(11, _value_info("x", x))
    with open(path, "wb") as file:
        file.write(_number(1, 8) + _bytes(7, graph) + _bytes(8, _number(2, 13)))
