"""The judge in many environments: versions, devices, threads and instruction sets."""
