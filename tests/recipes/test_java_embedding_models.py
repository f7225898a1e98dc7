"""The recipes for LangChain4j and Spring AI."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.clients.java import COPY
from support.clients.rendered import run, write

pytestmark = pytest.mark.java

RECIPES = Path(__file__).parents[2] / "recipes/java"

PROJECT = """\
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>recipes</groupId>
  <artifactId>recipes</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>com.microsoft.onnxruntime</groupId>
      <artifactId>onnxruntime</artifactId>
      <version>1.29.0</version>
    </dependency>
    <dependency>
      <groupId>ai.djl.huggingface</groupId>
      <artifactId>tokenizers</artifactId>
      <version>0.38.0</version>
    </dependency>
    <dependency>
      <groupId>dev.langchain4j</groupId>
      <artifactId>langchain4j-core</artifactId>
      <version>1.20.0</version>
    </dependency>
    <dependency>
      <groupId>org.springframework.ai</groupId>
      <artifactId>spring-ai-model</artifactId>
      <version>2.0.1</version>
    </dependency>
  </dependencies>
</project>
"""

#: Each line is whether a vector is that of the model's own prompt, or what another file is told.
PROGRAM = """\
import allminilml6v2.Embedder;
import dev.langchain4j.data.segment.TextSegment;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.springframework.ai.document.Document;

class Program {
  public static void main(String[] arguments) {
    try (var embedder = Embedder.open(Path.of(arguments[0]))) {
      var query = embedder.embedQuery("a b");
      var document = embedder.embedDocuments(List.of("a b")).get(0);
      var first = new BakedEmbeddingModel(embedder, embedder.fingerprint());
      var segments = List.of(TextSegment.from("a b"));
      print(query, first.embed("a b").content().vector());
      print(document, first.embed(segments.get(0)).content().vector());
      print(document, first.embedAll(segments).content().get(0).vector());
      var second = new BakedSpringEmbeddingModel(embedder, null);
      print(query, second.embed("a b"));
      print(document, second.embed(new Document("a b")));
      print(document, second.embed(List.of("a b")).get(0));
      System.out.println(first.dimension() + " " + second.dimensions() + " " + first.modelName());
      try {
        new BakedEmbeddingModel(embedder, "0123");
      } catch (IllegalArgumentException error) {
        System.out.println(error.getMessage());
      }
      try {
        new BakedSpringEmbeddingModel(embedder, "0123");
      } catch (IllegalArgumentException error) {
        System.out.println(error.getMessage());
      }
    }
  }

  private static void print(float[] expected, float[] found) {
    System.out.println(Arrays.equals(expected, found));
  }
}
"""


def test_both_embed_with_the_model_s_prompts(every_feed: Path, tmp_path: Path) -> None:
    """They compile, give queries and documents their prompts, and refuse another fingerprint."""
    (tmp_path / "pom.xml").write_text(PROJECT, encoding="utf-8")
    run("mvn", "-q", "-B", COPY, f"-DoutputDirectory={tmp_path}/packages", cwd=tmp_path)
    client = write("java", tmp_path / "client", every_feed, name="all-minilm-l6-v2")
    (tmp_path / "Program.java").write_text(PROGRAM, encoding="utf-8")
    places = [f"{tmp_path}/packages/*", str(tmp_path)]
    sources = [*client.glob("src/main/java/**/*.java"), *RECIPES.glob("Baked*.java")]
    options = ("-proc:none", "-Xlint:all", "-Werror", "-cp", os.pathsep.join(places))
    run("javac", *options, "-d", tmp_path, *sources, tmp_path / "Program.java", cwd=tmp_path)
    command = ("java", "-cp", os.pathsep.join(places), "Program", every_feed)
    printed = [line for line in run(*command, cwd=tmp_path).splitlines() if "SLF4J" not in line]
    told = "the vectors are of the model file 0123; open that, or embed them again"
    assert printed == ["true"] * 6 + ["7 7 every-feed", told, told]
