# The golden cases against your own service, in `bundle exec rake`: `Service.embed` gives vectors, one a text.

require "json"
require "minitest/autorun"
require_relative "../lib/service"

class GoldenCasesTest < Minitest::Test
  # What `polybake inspect MODEL --extract FOLDER` writes, or `polybake build`.
  FOLDER = File.expand_path("../fixtures/all-minilm-l6-v2", __dir__)
  FIXTURE = JSON.parse(File.read("#{FOLDER}/cases.json"))
  MAX_ABS, ONE_MINUS_COSINE = FIXTURE["tolerances"]["cpu"].values_at("max_abs", "one_minus_cosine")

  FIXTURE["cases"].each do |golden|
    define_method(:"test_golden_case_#{golden["id"]}") do
      texts, prompt, embeddings = golden.values_at("texts", "prompt", "embeddings")
      expected = rows(*embeddings.values_at("shape", "data", "offset"))
      vectors = Service.embed(texts, prompt)
      assert_equal expected.map(&:size), vectors.map(&:size), "elements of each row"
      expected.zip(vectors).each_with_index { |(row, vector), number| assert_near row, vector, number }
    end
  end

  private

  # @return [Array<Array<Float>>] of little-endian float32
  def rows((rows, dimension), data, offset)
    bytes = data ? data.unpack1("m0") : File.binread("#{FOLDER}/vectors.f32", 4 * rows * dimension, offset)
    bytes.unpack("e*").each_slice(dimension).to_a
  end

  def assert_near(golden, vector, row)
    norm, length = [golden, vector].map { |one| Math.sqrt(one.sum { |element| element * element }) }
    limit = MAX_ABS * [1.0, norm].max # float32 rounds relative to size
    golden.zip(vector).each_with_index do |(expected, found), element|
      difference = (found - expected).abs # of NaN it is NaN, which is not within a limit
      place = "row #{row}, element #{element}: difference #{difference} exceeds #{limit}"
      assert difference <= limit, "#{place}; the vector is #{length} long, expected #{norm}"
    end
    return if norm <= MAX_ABS

    angle = 1 - golden.zip(vector).sum { |expected, found| expected * found } / (norm * length)
    assert_operator angle, :<=, ONE_MINUS_COSINE, "row #{row}: 1 - cosine"
  end
end
