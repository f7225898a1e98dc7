"""Two model files beside each other: do they give the same vectors, and which part differs?"""
