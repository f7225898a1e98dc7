// Print the nearest documents of a text: java Search.java MODEL DATABASE TEXT

import allminilml6v2.Embedder;
import com.pgvector.PGvector;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;

final class Search {
  private static final String NEAREST =
      """
      SELECT id, embedding <=> ? AS distance FROM documents ORDER BY distance LIMIT 5
      """;

  public static void main(String[] arguments) throws SQLException {
    var model = Path.of(arguments[0]);
    var database = arguments[1];
    var text = arguments[2];

    try (var embedder = Embedder.open(model);
        var connection = DriverManager.getConnection(database);
        var stores = connection.createStatement();
        var store = stores.executeQuery("SELECT fingerprint FROM stores WHERE name = 'documents'");
        var nearest = connection.prepareStatement(NEAREST)) {
      var stored = store.next() ? store.getString(1) : "no model";
      if (!stored.equals(embedder.fingerprint())) {
        System.err.printf(
            "documents holds the vectors of %s, this model is %s: "
                + "open the model that wrote them, or write them anew%n",
            stored, embedder.fingerprint());
        System.exit(1);
      }
      PGvector.registerTypes(connection);
      nearest.setObject(1, new PGvector(embedder.embedQuery(text)));
      var rows = nearest.executeQuery();
      while (rows.next()) {
        System.out.printf("{\"id\": %d, \"distance\": %s}%n", rows.getLong(1), rows.getDouble(2));
      }
    }
  }
}
