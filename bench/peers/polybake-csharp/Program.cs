// polybake's C# client. Usage: Runner THREADS MODEL_FILE [side-by-side]. protocol/answer.py says how it answers.
using System.Diagnostics;
using System.Globalization;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Text.Json;
using AllMinilmL6V2;

var threads = int.Parse(args[0], CultureInfo.InvariantCulture);
using var embedder = args.Length > 2
    ? Embedder.Open(args[1], threads: 1, concurrency: threads)
    : Embedder.Open(args[1], threads: threads);
string[] packages = ["Microsoft.ML.OnnxRuntime", "Tokenizers.DotNet"];
Say(new { versions = packages.ToDictionary(name => name, Installed) });
while (Console.ReadLine() is { } line)
{
    var request = JsonSerializer.Deserialize<Request>(line, JsonSerializerOptions.Web)!;
    var seconds = new List<double>();
    float[][] vectors = [];
    for (var call = 0; call < request.Calls; call++)
    {
        var watch = Stopwatch.StartNew();
        vectors = embedder.Embed(request.Texts);
        seconds.Add(watch.Elapsed.TotalSeconds);
    }

    if (request.Vectors is { } file)
    {
        File.WriteAllBytes(file, MemoryMarshal.AsBytes(vectors.SelectMany(vector => vector).ToArray().AsSpan()).ToArray());
    }

    Say(new { seconds });
}

static string Installed(string package) =>
    Assembly.Load(package).GetCustomAttribute<AssemblyInformationalVersionAttribute>()!.InformationalVersion.Split('+')[0];

static void Say(object message) => Console.WriteLine(JsonSerializer.Serialize(message));

internal sealed record Request(string[] Texts, int Calls, string? Vectors);
