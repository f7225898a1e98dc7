// The golden cases against your own service, in `dotnet test`: Service.Embed gives vectors, one a text. The project
// of the tests copies what `polybake inspect MODEL --extract FOLDER` writes, or `polybake build`:
// <Content Include="../fixtures/all-minilm-l6-v2/*" LinkBase="fixtures" CopyToOutputDirectory="PreserveNewest" />

using System.Runtime.InteropServices;
using System.Text.Json;
using Xunit;

/// <summary>Every golden case.</summary>
public sealed class GoldenCasesTests
{
    private static readonly string Folder = Path.Combine(AppContext.BaseDirectory, "fixtures");
    private static readonly JsonElement Fixture = JsonElement.Parse(File.ReadAllBytes(Path.Combine(Folder, "cases.json")));
    private static readonly JsonElement Tolerance = Fixture.GetProperty("tolerances").GetProperty("cpu");

    public static TheoryData<string> Ids => [.. Cases.Select(golden => golden.GetProperty("id").GetString()!)];

    private static IEnumerable<JsonElement> Cases => Fixture.GetProperty("cases").EnumerateArray();

    [Theory]
    [MemberData(nameof(Ids))]
    public void GoldenCase(string id)
    {
        var golden = Cases.Single(one => one.GetProperty("id").GetString() == id);
        string[] texts = [.. golden.GetProperty("texts").EnumerateArray().Select(text => text.GetString()!)];
        var prompt = golden.TryGetProperty("prompt", out var name) ? name.GetString() : null;
        var expected = Rows(golden.GetProperty("embeddings"));
        var vectors = Service.Embed(texts, prompt);
        Assert.Equal(expected.Select(row => row.Length), vectors.Select(row => row.Length));
        foreach (var (row, (theirs, ours)) in expected.Zip(vectors).Index())
        {
            CheckRow(row, theirs, ours);
        }
    }

    private static void CheckRow(int row, float[] golden, float[] vector)
    {
        var (norm, length) = (Math.Sqrt(Dot(golden, golden)), Math.Sqrt(Dot(vector, vector)));
        var maxAbs = Tolerance.GetProperty("max_abs").GetDouble();
        var limit = maxAbs * Math.Max(1, norm); // float32 rounds relative to size
        foreach (var (element, (expected, found)) in golden.Zip(vector).Index())
        {
            var difference = Math.Abs((double)found - expected); // of NaN it is NaN, which is not within a limit
            Assert.True(
                difference <= limit,
                $"row {row}, element {element}: difference {difference} exceeds {limit}; the vector is {length} long, expected {norm}");
        }

        var angle = norm > maxAbs ? 1 - (Dot(golden, vector) / (norm * length)) : 0;
        Assert.True(angle <= Tolerance.GetProperty("one_minus_cosine").GetDouble(), $"row {row}: 1 - cosine {angle}");
    }

    private static double Dot(float[] one, float[] other) => one.Zip(other).Sum(pair => (double)pair.First * pair.Second);

    /// <summary>Little-endian float32, inline or in a file beside.</summary>
    private static float[][] Rows(JsonElement embeddings)
    {
        int[] shape = [.. embeddings.GetProperty("shape").EnumerateArray().Select(size => size.GetInt32())];
        var bytes = embeddings.TryGetProperty("data", out var data)
            ? data.GetBytesFromBase64()
            : File.ReadAllBytes(Path.Combine(Folder, "vectors.f32"))[embeddings.GetProperty("offset").GetInt32()..];
        return [.. MemoryMarshal.Cast<byte, float>(bytes)[..(shape[0] * shape[1])].ToArray().Chunk(shape[1])];
    }
}
