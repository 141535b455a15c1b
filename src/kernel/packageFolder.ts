import { existsSync } from "node:fs";

/** The folder with package.json, whether the code runs from src/ or, built, from dist/relay/. */
export const packageFolder = above(new URL(".", import.meta.url));

function above(folder: URL): URL {
  return existsSync(new URL("package.json", folder)) ? folder : above(new URL("..", folder));
}
