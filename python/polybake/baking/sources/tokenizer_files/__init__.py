"""tokenizer.json, made of the files that tokenizers were saved in before, as transformers does."""
