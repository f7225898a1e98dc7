require "all_minilm_l6_v2/bulk"
model, count = ARGV[0], ARGV[1].to_i
start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
done = 0
AllMinilmL6V2::Embedder.open(model) do |embedder|
  texts = (0...count).lazy.map { |place| "text number #{place}" }
  AllMinilmL6V2::Bulk.map(texts) { |window| embedder.embed(window) }.each do
    next unless [count / 10, count].include?(done += 1)
    megabytes = File.read("/proc/self/status")[/VmRSS:\s+(\d+)/, 1].to_i / 1000
    puts "#{megabytes} #{Process.clock_gettime(Process::CLOCK_MONOTONIC) - start}"
  end
end
