import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  base: "/dashboard/",
  publicDir: "public",
  plugins: [react()],
  build: {
    outDir: "../dist/dashboard",
    emptyOutDir: true,
    // Browsers that support light-dark(), which all our colours use.
    target: ["chrome123", "edge123", "firefox120", "safari17.5"],
    // The polyfill is an inline script, which the page's policy forbids.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 700,
    manifest: true,
  },
});
