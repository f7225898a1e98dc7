# frozen_string_literal: true

# Yours: polybake writes this file once. It is loaded last, so it may add to every class of this gem.
module AllMinilmL6V2
end
