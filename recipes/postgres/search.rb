# Print the nearest documents of a text: ruby search.rb MODEL DATABASE TEXT

require "json"
require "pg"
require "pgvector"
require "all_minilm_l6_v2"

NEAREST = <<~SQL
  SELECT id, embedding <=> $1 AS distance FROM documents ORDER BY distance LIMIT 5
SQL

model, database, text = ARGV

embedder = AllMinilmL6V2::Embedder.new(model)
connection = PG.connect(database)
stored = connection.exec("SELECT fingerprint FROM stores WHERE name = 'documents'").first&.fetch("fingerprint") || "no model"
if stored != embedder.fingerprint
  abort "documents holds the vectors of #{stored}, this model is #{embedder.fingerprint}: " \
    "open the model that wrote them, or write them anew"
end
vector = Pgvector.encode(embedder.embed_query(text))
connection.exec_params(NEAREST, [vector]).each do |row|
  puts JSON.generate(id: row["id"].to_i, distance: row["distance"].to_f)
end
