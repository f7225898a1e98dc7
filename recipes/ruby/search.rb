# Print the nearest documents of a text: ruby search.rb MODEL DATABASE TEXT
# The table is that of recipes/postgres, the library ActiveRecord with neighbor.

require "json"
require "active_record"
require "neighbor"
require "all_minilm_l6_v2"

class Store < ActiveRecord::Base
end

class Document < ActiveRecord::Base
  has_neighbors :embedding
end

model, database, text = ARGV

embedder = AllMinilmL6V2::Embedder.new(model)
ActiveRecord::Base.establish_connection(database)
stored = Store.find_by(name: "documents")&.fingerprint || "no model"
if stored != embedder.fingerprint
  abort "documents holds the vectors of #{stored}, this model is #{embedder.fingerprint}: " \
    "open the model that wrote them, or write them anew"
end
vector = embedder.embed_query(text)
Document.nearest_neighbors(:embedding, vector, distance: "cosine").limit(5).each do |document|
  puts JSON.generate(id: document.id, distance: document.neighbor_distance)
end
