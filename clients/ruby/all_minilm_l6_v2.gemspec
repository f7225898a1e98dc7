Gem::Specification.new do |spec|
  spec.name = "all_minilm_l6_v2"
  spec.version = "0.1.0"
  spec.summary = "Client of the model all-minilm-l6-v2, the same in every language"
  spec.author = "polybake"
  spec.license = "Apache-2.0"
  # Keeps the gem from a public server, where nobody owns the name; put your own server here.
  spec.metadata["allowed_push_host"] = "none"

  spec.files = Dir["lib/**/*.rb", "sig/**/*.rbs", "README.md"]
  spec.required_ruby_version = ">= 3.2"

  # The first with ONNX Runtime 1.24.3. Closely bound: lib/all_minilm_l6_v2/graph.rb needs its private parts.
  spec.add_dependency "onnxruntime", "~> 0.11.1"
  spec.add_dependency "tokenizers", ">= 0.6.1", "< 0.8"
end
