# How a runner in Ruby answers the driver; protocol/answer.py says how.
require "json"

def answer(packages, &embed)
  say(versions: packages.to_h { |name| [name, Gem.loaded_specs.fetch(name).version.to_s] })
  $stdin.each_line do |line|
    request = JSON.parse(line)
    vectors = nil
    seconds = Array.new(request["calls"]) do
      start = clock
      vectors = embed.call(request["texts"])
      clock - start
    end
    File.binwrite(request["vectors"], vectors.flatten.pack("e*")) if request["vectors"]
    say(seconds:)
  end
end

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

def say(message)
  $stdout.puts(JSON.generate(message))
  $stdout.flush
end
