import { expect, test } from "vitest";
import { createHttpServer } from "./server.ts";

test("a request whose body stops arriving ends after as long as one whose headers do", async () => {
  const app = createHttpServer(null, () => {});
  expect([app.server.headersTimeout, app.server.requestTimeout]).toEqual([30_000, 30_000]);
  await app.close();
});
