Gem::Specification.new do |spec|
  spec.name = "all_minilm_l6_v2"
  spec.version = "0.1.0"
  spec.summary = "Text embeddings of all-minilm-l6-v2, the same in every language"
  spec.author = "polybake"

  spec.files = Dir["lib/**/*.rb", "README.md"]
  spec.require_path = "lib"
  spec.required_ruby_version = ">= 3.2"

  # 0.11.1 is the first gem with ONNX Runtime 1.24.3.
  spec.add_dependency "onnxruntime", "~> 0.11", ">= 0.11.1"
  spec.add_dependency "tokenizers", ">= 0.6.1", "< 0.8"
end
