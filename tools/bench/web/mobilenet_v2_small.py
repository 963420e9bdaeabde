"""The MobileNetV2 of examples/mobilenet_v2."""

from examples.mobilenet_v2.model import get_model

__all__ = ["get_model"]
