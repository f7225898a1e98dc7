// An IEmbeddingGenerator of Microsoft.Extensions.AI, for vector stores and Semantic Kernel. These do not tell queries
// from documents, so make one for each: BakedGenerator.OfDocuments(embedder) and BakedGenerator.OfQueries(embedder).
// Packages: Microsoft.Extensions.AI.Abstractions

using AllMinilmL6V2;
using Microsoft.Extensions.AI;

/// <summary>A view of an embedder, which stays its owner's to dispose.</summary>
public sealed class BakedGenerator : IEmbeddingGenerator<string, Embedding<float>>
{
    private readonly Embedder _embedder;
    private readonly Func<IEnumerable<string>, CancellationToken, float[][]> _embed;

    private BakedGenerator(Embedder embedder, Func<IEnumerable<string>, CancellationToken, float[][]> embed) =>
        (_embedder, _embed) = (embedder, embed);

    public static BakedGenerator OfDocuments(Embedder embedder) => new(embedder, embedder.EmbedDocuments);

    public static BakedGenerator OfQueries(Embedder embedder) => new(embedder, embedder.EmbedQueries);

    public async Task<GeneratedEmbeddings<Embedding<float>>> GenerateAsync(
        IEnumerable<string> values, EmbeddingGenerationOptions? options = null, CancellationToken cancellationToken = default)
    {
        if (options?.Dimensions is { } dimensions && dimensions != _embedder.Dimension)
        {
            throw new NotSupportedException($"{_embedder.Name} gives {_embedder.Dimension} dimensions; {dimensions} were asked for");
        }

        var vectors = await Task.Run(() => _embed(values, cancellationToken), cancellationToken).ConfigureAwait(false);
        return new(vectors.Select(vector => new Embedding<float>(vector) { ModelId = _embedder.Fingerprint }));
    }

    public object? GetService(Type serviceType, object? serviceKey = null) => serviceKey is not null ? null
        : serviceType == typeof(EmbeddingGeneratorMetadata) ? new EmbeddingGeneratorMetadata("onnxruntime", null, _embedder.Name, _embedder.Dimension)
        : serviceType.IsInstanceOfType(this) ? this : null;

    public void Dispose()
    {
    }
}
