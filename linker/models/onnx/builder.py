"""Construction of ONNX graphs whose large weights stay in a safetensors file."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

MICROSOFT = "com.microsoft"


class Tensor(NamedTuple):
    """An input or output of a graph.

    Attributes:
        name: its name.
        kind: type of its numbers.
        shape: sizes by axis; a string names one that varies.
    """

    name: str
    kind: Literal["float32", "int32", "int64"]
    shape: Sequence[str | int]


class WeightFile:
    """A safetensors file whose tensors a graph in the same folder can refer to.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        with open(path, "rb") as opened:
            (size,) = struct.unpack("<Q", opened.read(8))
            self._header: dict[str, Any] = json.loads(opened.read(size))
        self._name, self._start = path.name, 8 + size

    def tensor(self, name: str) -> Any:
        """Return a `TensorProto` that refers to a tensor of the file.

        Raises:
            KeyError: if the file has no such tensor.
        """
        import onnx

        entry = self._header[name]
        begin, end = entry["data_offsets"]
        kinds = {"F32": onnx.TensorProto.FLOAT, "I8": onnx.TensorProto.INT8}
        tensor = onnx.TensorProto(name=name, dims=entry["shape"], data_type=kinds[entry["dtype"]])
        tensor.data_location = onnx.TensorProto.EXTERNAL
        places = {"location": self._name, "offset": self._start + begin, "length": end - begin}
        for key, value in places.items():
            tensor.external_data.add(key=key, value=str(value))
        return tensor


class GraphBuilder:
    """Nodes and constants of a graph.

    Args:
        weights: safetensors file with the weights that the graph refers to, in the folder that the graph is written to.
    """

    def __init__(self, weights: Path) -> None:
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}
        self._weights = WeightFile(weights)
        self._unnamed = 0

    def node(
        self, operator: str, inputs: Sequence[str], output: str = "", domain: str = "", **attributes: Any
    ) -> str:
        """Add a node and return the name of its output; by default the name is a number."""
        from onnx import helper

        output = output or self._name(operator)
        self._nodes.append(helper.make_node(operator, list(inputs), [output], domain=domain, **attributes))
        return output

    def constant(self, value: Any, name: str = "") -> str:
        """Add a small constant, an array or a NumPy number, and return its name."""
        from onnx import numpy_helper

        name = name or self._name("constant")
        self._constants[name] = numpy_helper.from_array(np.asarray(value), name)
        return name

    def weight(self, name: str) -> str:
        """Add a tensor of the safetensors file and return its name.

        Raises:
            KeyError: if the file has no such tensor.
        """
        if name not in self._constants:
            self._constants[name] = self._weights.tensor(name)
        return name

    def write(self, path: Path, name: str, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
        """Write the graph; the safetensors file must be in the same folder.

        Args:
            path: the file to write.
            name: of the graph.
            inputs: names that nodes read and none writes.
            outputs: names that nodes write.
        """
        from onnx import helper

        from linker.common.files import atomic_write

        graph = helper.make_graph(
            self._nodes, name, _described(inputs), _described(outputs), list(self._constants.values())
        )
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
        model = helper.make_model(graph, opset_imports=opsets, producer_name="linker", ir_version=9)
        with atomic_write(path, "wb") as file:
            file.write(model.SerializeToString())

    def _name(self, of: str) -> str:
        self._unnamed += 1
        return f"{of}_{self._unnamed}"


def _described(tensors: Sequence[Tensor]) -> list[Any]:
    from onnx import TensorProto, helper

    kinds = {"float32": TensorProto.FLOAT, "int32": TensorProto.INT32, "int64": TensorProto.INT64}
    return [helper.make_tensor_value_info(name, kinds[kind], shape) for name, kind, shape in tensors]
