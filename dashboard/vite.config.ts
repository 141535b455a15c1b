import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/**
 * Few files: each costs a request, and many small ones compress badly. A group takes the static imports of its modules too,
 * unless a group above it has them, so no two files import each other.
 */
const groups = [
  { name: "start", tags: ["$initial" as const], priority: 6 },
  { name: "app", test: /\/dashboard\/scenes\/(?:frame\/Frame|overview\/Overview)\.tsx$/, priority: 5 },
  // Part of the first load of a new site: one file, and none of the larger ones below.
  { name: "firstSteps", test: /\/dashboard\/scenes\/overview\/FirstSteps\.tsx$/, priority: 4 },
  { name: "signIn", test: /\/dashboard\/scenes\/signIn\//, priority: 3 },
  { name: "events", test: /\/dashboard\/scenes\/events\/Events\.tsx$/, priority: 2 },
  {
    name: "shared",
    test: /\/node_modules\/|\/dashboard\/(?:common\/|messages\/\w+\.tsx?$)/,
    priority: 1,
    minShareCount: 2,
  },
];

/**
 * Loads the styles of each Mantine component with its code: all of them would be a fifth of the first load. They are in a cascade
 * layer, so that ours win in whatever order chunks are loaded.
 */
const componentStyles: Plugin = {
  name: "component-styles",
  transform: {
    filter: { id: /\/@mantine\/core\/esm\/.+\/\w+\.module\.mjs$/ },
    handler: (code, id) => `import "@mantine/core/styles/${basename(id, ".module.mjs")}.layer.css";\n${code}`,
  },
};

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  base: "/dashboard/",
  publicDir: "public",
  plugins: [react(), componentStyles],
  build: {
    outDir: "../dist/dashboard",
    emptyOutDir: true,
    // Browsers that support light-dark(), which all our colours use.
    target: ["chrome123", "edge123", "firefox120", "safari17.5"],
    // The polyfill is an inline script, which the page's policy forbids.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      output: {
        codeSplitting: { groups },
        // Shared chunks have the names of all pages that use them.
        chunkFileNames: ({ name }) => `assets/${name.split("~", 1)[0]}-[hash].js`,
        assetFileNames: ({ names: [name = ""] }) => `assets/${name.split(/[~.]/, 1)[0]}-[hash][extname]`,
      },
    },
  },
});
