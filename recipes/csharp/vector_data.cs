// Write each line of a file, and print the nearest of a text, by Microsoft.Extensions.VectorData:
// dotnet run vector_data.cs MODEL DATABASE FILE TEXT

#:project ../../clients/csharp/src/AllMinilmL6V2.csproj
#:package Tokenizers.DotNet.runtime.linux-x64@1.4.1
#:package Microsoft.SemanticKernel.Connectors.PgVector@1.74.0-preview
#:property PublishAot=false

using System.Text.Json;
using AllMinilmL6V2;
using Microsoft.Extensions.AI;
using Microsoft.Extensions.VectorData;
using Microsoft.SemanticKernel.Connectors.PgVector;

var (model, database, file, text) = (args[0], args[1], args[2], args[3]);

using var embedder = Embedder.Open(model);

// A collection embeds all strings that it is given by one generator. It is that of documents, so it must not be
// given a query: SearchAsync takes the query's vector.
var options = new PostgresCollectionOptions { EmbeddingGenerator = embedder.AsDocumentGenerator() };
var queries = embedder.AsQueryGenerator();

// VectorData keeps no facts of a collection but its name: the vectors of another model are another collection.
var name = $"documents_{embedder.Fingerprint[..16]}";
using var documents = new PostgresCollection<long, Document>(database, name, options);
await documents.EnsureCollectionExistsAsync();
await documents.UpsertAsync(File.ReadLines(file).Select((body, index) => new Document { Id = index + 1, Body = body }));

await foreach (var found in documents.SearchAsync(await queries.GenerateVectorAsync(text), top: 5))
{
    Console.WriteLine(JsonSerializer.Serialize(new { id = found.Record.Id, distance = found.Score }));
}

/// <summary>A text that the collection embeds when it is written.</summary>
internal sealed class Document
{
    [VectorStoreKey]
    public required long Id { get; init; }

    [VectorStoreData]
    public required string Body { get; init; }

    [VectorStoreVector(384, DistanceFunction = DistanceFunction.CosineDistance, IndexKind = IndexKind.Hnsw)]
    public string Embedding => Body;
}
