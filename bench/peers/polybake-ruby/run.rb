# polybake's Ruby client. Usage: run.rb THREADS MODEL_FILE [side-by-side].
require "all_minilm_l6_v2"
require_relative "../protocol/answer"

threads = ARGV[0].to_i
shared = ARGV[2] ? {threads: 1, concurrency: threads} : {threads:}
embedder = AllMinilmL6V2::Embedder.new(ARGV[1], **shared)
answer(%w[onnxruntime tokenizers]) { |texts| embedder.embed(texts) }
