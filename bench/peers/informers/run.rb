# informers. Usage: run.rb THREADS EXPORT_FOLDER BATCH_SIZE.
require "informers"
require_relative "../protocol/answer"

threads, folder, size = ARGV
Informers.allow_remote_models = false
# A name without a folder: informers joins it to the cache's.
model = Informers.pipeline(
  "embedding", File.basename(folder),
  cache_dir: File.dirname(folder), quantized: false, session_options: {intra_op_num_threads: threads.to_i}
)
answer(%w[informers onnxruntime tokenizers]) do |texts|
  texts.each_slice(size.to_i).flat_map { |batch| model.(batch) }
end
