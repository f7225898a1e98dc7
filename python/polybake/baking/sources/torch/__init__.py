"""An encoder that PyTorch exports."""
