// Print the nearest documents of a text: dotnet run search.cs MODEL DATABASE TEXT

#:project ../../clients/csharp/src/AllMinilmL6V2.csproj
#:package Tokenizers.DotNet.runtime.linux-x64@1.4.1
#:package Npgsql@10.0.3
#:package Pgvector@0.3.2
#:property PublishAot=false

using System.Text.Json;
using AllMinilmL6V2;
using Npgsql;
using Pgvector;

const string Nearest = """
    SELECT id, embedding <=> $1 AS distance FROM documents ORDER BY distance LIMIT 5
    """;

var (model, database, text) = (args[0], args[1], args[2]);

using var embedder = Embedder.Open(model);
var builder = new NpgsqlDataSourceBuilder(database);
builder.UseVector();
await using var source = builder.Build();
await using var store = source.CreateCommand("SELECT fingerprint FROM stores WHERE name = 'documents'");
var stored = await store.ExecuteScalarAsync() as string ?? "no model";
if (stored != embedder.Fingerprint)
{
    Console.Error.WriteLine(
        $"documents holds the vectors of {stored}, this model is {embedder.Fingerprint}: "
        + "open the model that wrote them, or write them anew");
    return 1;
}

await using var nearest = source.CreateCommand(Nearest);
nearest.Parameters.AddWithValue(new Vector(embedder.EmbedQuery(text)));
await using var rows = await nearest.ExecuteReaderAsync();
while (await rows.ReadAsync())
{
    Console.WriteLine(JsonSerializer.Serialize(new { id = rows.GetInt64(0), distance = rows.GetDouble(1) }));
}

return 0;
