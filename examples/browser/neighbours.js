/** Sentences by their nearness to what is typed. */

import { Embedder } from "all-minilm-l6-v2";

const sentences = [
  "The cat sleeps on the sofa.",
  "A dog chases a ball across the park.",
  "Shares fell again today.",
  "The central bank raised interest rates.",
  "Simmer the onions until they are golden.",
  "Fresh bread needs flour, water, salt and time.",
  "The train to Basel leaves at nine.",
  "Our flight was cancelled because of fog.",
  "Rain is expected in the north tonight.",
  "She plays the violin in an orchestra.",
  "The doctor told him to rest for a week.",
  "A telescope saw light from the first galaxies.",
];

const part = (id) => document.getElementById(id);
const [query, state, list, progress] = ["query", "state", "list", "progress"].map(part);

/** The cosine of two vectors of this model, which have length 1. */
const cosine = (one, other) => one.reduce((sum, element, at) => sum + element * other[at], 0);

const megabytes = (bytes) => (bytes / 1e6).toFixed(0);

let embedder;
let vectors;
const begun = performance.now();
try {
  embedder = await Embedder.open("model.onnx", {
    progress({ loaded, total }) {
      progress.value = loaded / total;
      state.value = `Opening the model: ${megabytes(loaded)} of ${megabytes(total)} MB`;
    },
  });
  vectors = await embedder.embedDocuments(sentences);
} catch (error) {
  state.value = error.message;
  throw error;
}
const seconds = ((performance.now() - begun) / 1000).toFixed(1);
part("facts").textContent =
  `${embedder.name}, ${embedder.dimension} dimensions, open after ${seconds} s.\nFingerprint ${embedder.fingerprint}`;
progress.hidden = true;
for (const field of document.querySelectorAll(":disabled")) field.disabled = false;

/** Whether something was typed while a call was under way. */
let changed = false;
let running = false;

async function rank() {
  changed = true;
  if (running) return;
  running = true;
  while (changed) {
    changed = false;
    const from = performance.now();
    const vector = await embedder.embedQuery(query.value);
    const time = Math.max(1, Math.round(performance.now() - from));
    const near = vectors.map((one) => cosine(vector, one));
    const places = [...near.keys()].sort((a, b) => near[b] - near[a]);
    list.replaceChildren(...places.map((place) => item(sentences[place], near[place])));
    state.value = `${sentences.length} sentences, embedded your own in ${time} ms`;
  }
  running = false;
}

function item(sentence, near) {
  const line = document.createElement("li");
  const score = document.createElement("span");
  score.textContent = near.toFixed(2).replace("-", "\u2212");
  line.style.setProperty("--near", Math.max(0, near).toFixed(3));
  line.append(sentence, score);
  return line;
}

query.addEventListener("input", rank);
part("add").addEventListener("submit", async (event) => {
  event.preventDefault();
  const { value } = part("sentence");
  const [vector] = await embedder.embedDocuments([value]);
  sentences.push(value);
  vectors.push(vector);
  event.target.reset();
  await rank();
});
await rank();
query.focus();
