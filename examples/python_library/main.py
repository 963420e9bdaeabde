"""Classifies numbers by the program of the build, without PyTorch."""

import classifier
import numpy

x = numpy.linspace(-1, 1, num=24, dtype=numpy.float32).reshape(3, 8)
probabilities = classifier.forward(x)
print("classes:", probabilities.argmax(axis=1).tolist())
print("sums:", probabilities.sum(axis=1).round(3).tolist())
