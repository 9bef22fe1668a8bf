"""The LSTM and Eq. 6 as Triton kernels."""
