import { defineConfig } from "vitest/config";

export default defineConfig({
  // They load WebAssembly from beside their own files.
  optimizeDeps: { exclude: ["all-minilm-l6-v2", "onnxruntime-web"] },
  test: {
    include: ["tests/**/*.test.js"],
    browser: {
      enabled: true,
      headless: true,
      provider: "playwright",
      // Without the variable it is Playwright's own Chromium.
      instances: [{ browser: "chromium", launch: { executablePath: process.env.CHROME_PATH } }],
    },
  },
});
