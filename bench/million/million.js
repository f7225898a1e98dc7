import { each } from "./src/bulk.js";
import { Embedder } from "./src/index.js";
const [model, count] = process.argv.slice(1);
const embedder = await Embedder.open(model);
function* texts() {
  for (let place = 0; place < count; place++) yield `text number ${place}`;
}
const begin = performance.now();
let done = 0;
for await (const _ of each((window) => embedder.embed(window), texts())) {
  if (++done === count / 10 || done === Number(count)) {
    const megabytes = Math.floor(process.memoryUsage().rss / 1e6);
    console.log(megabytes, (performance.now() - begin) / 1000);
  }
}
await embedder.close();
