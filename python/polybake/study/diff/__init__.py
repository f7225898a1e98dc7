"""Compare two model files: do they give the same vectors, and which part differs?"""
