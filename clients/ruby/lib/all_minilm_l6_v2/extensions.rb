# frozen_string_literal: true

# Yours: polybake writes this file once. It is loaded last, so it may add to the embedder.
module AllMinilmL6V2
end
