# polybake's Ruby client. Usage: run.rb THREADS MODEL_FILE.
require "all_minilm_l6_v2"
require_relative "../protocol/answer"

embedder = AllMinilmL6V2::Embedder.new(ARGV[1], threads: ARGV[0].to_i)
answer(%w[onnxruntime tokenizers]) { |texts| embedder.embed(texts) }
