// Write each line of a file, and print the nearest of a text, by Microsoft.Extensions.VectorData:
// dotnet run vector_data.cs MODEL DATABASE FILE TEXT

#:project ../../clients/csharp/src/AllMinilmL6V2.csproj
#:package Tokenizers.DotNet.runtime.linux-x64@1.4.1
#:package Microsoft.SemanticKernel.Connectors.PgVector@1.74.0-preview
#:property PublishAot=false

using System.Text.Json;
using AllMinilmL6V2;
using Microsoft.Extensions.VectorData;
using Microsoft.SemanticKernel.Connectors.PgVector;

var (model, database, file, text) = (args[0], args[1], args[2], args[3]);

using var embedder = Embedder.Open(model);

// VectorData keeps no facts of a collection but its name: the vectors of another model are another collection.
var name = $"documents_{embedder.Fingerprint[..16]}";
using var documents = new PostgresCollection<long, Document>(database, name);
await documents.EnsureCollectionExistsAsync();

// Documents have the model's prompt for documents, and a query has that for queries, so the vectors are made here: a
// collection with a generator would embed both alike.
var bodies = File.ReadAllLines(file);
var vectors = embedder.EmbedDocuments(bodies);
await documents.UpsertAsync(bodies.Select((body, place) => new Document { Id = place + 1, Body = body, Embedding = vectors[place] }));

ReadOnlyMemory<float> query = embedder.EmbedQuery(text);
await foreach (var found in documents.SearchAsync(query, top: 5))
{
    Console.WriteLine(JsonSerializer.Serialize(new { id = found.Record.Id, distance = found.Score }));
}

/// <summary>A text and its vector.</summary>
internal sealed class Document
{
    [VectorStoreKey]
    public required long Id { get; init; }

    [VectorStoreData]
    public required string Body { get; init; }

    [VectorStoreVector(384, DistanceFunction = DistanceFunction.CosineDistance, IndexKind = IndexKind.Hnsw)]
    public required ReadOnlyMemory<float> Embedding { get; init; }
}
