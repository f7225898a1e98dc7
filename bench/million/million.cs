#:project CLIENT/src/AllMinilmL6V2.csproj
#:package Tokenizers.DotNet.runtime.linux-x64@1.4.1
#:property PublishAot=false
using System.Diagnostics;
using AllMinilmL6V2;

var count = int.Parse(args[1]);
var watch = Stopwatch.StartNew();
using var embedder = Embedder.Open(args[0]);
var done = 0;
var texts = Enumerable.Range(0, count).Select(place => $"text number {place}");
var source = texts.ToAsyncEnumerable();
await foreach (var _ in Bulk.EachAsync(source, (window, token) => embedder.Embed(window)))
{
    if (++done == count / 10 || done == count)
    {
        var megabytes = Environment.WorkingSet / 1_000_000;
        var seconds = watch.Elapsed.TotalSeconds;
        Console.WriteLine(FormattableString.Invariant($"{megabytes} {seconds}"));
    }
}
