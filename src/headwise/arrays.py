"""Array types that cross package boundaries; each docstring gives the shape."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]
IntArray = NDArray[np.int32]
BoolArray = NDArray[np.bool_]
NumberArray = NDArray[Any]
"""int32 or float32; the docstring says which."""
