// Print the nearest documents of a text: node search.js MODEL DATABASE TEXT

import { Embedder } from "all-minilm-l6-v2";
import pg from "pg";
import pgvector from "pgvector/pg";

const NEAREST = `
  SELECT id, embedding <=> $1 AS distance FROM documents ORDER BY distance LIMIT 5
`;

const [model, database, text] = process.argv.slice(2);

const embedder = await Embedder.open(model);
const client = new pg.Client({ connectionString: database });
await client.connect();
const stores = await client.query("SELECT fingerprint FROM stores WHERE name = 'documents'");
const stored = stores.rows[0]?.fingerprint ?? "no model";
if (stored !== embedder.fingerprint) {
  console.error(
    `documents holds the vectors of ${stored}, this model is ${embedder.fingerprint}: ` +
      "open the model that wrote them, or write them anew",
  );
  process.exit(1);
}
const vector = pgvector.toSql([...(await embedder.embedQuery(text))]);
for (const { id, distance } of (await client.query(NEAREST, [vector])).rows) {
  console.log(JSON.stringify({ id: Number(id), distance }));
}
await client.end();
await embedder.close();
