// Serves imports of past conversions and identity records from uploaded files.

import type { Answer } from "../../contract/contract.ts";
import type { importRoutes } from "../../contract/imports.ts";
import type { Handlers } from "../call.ts";
import type { ApiContext } from "../context.ts";

type ListedTally = Answer<"GET /sites/:site/imports">["items"][number]["tally"];

export function importHandlers({ store, imports }: ApiContext): Handlers<keyof typeof importRoutes> {
  return {
    async "GET /sites/:site/imports"({ site }) {
      const items = (await store.imports.list(site.id)).map(
        ({ id, kind, file, state, options, tally, startedAt, updatedAt }) => ({
          id,
          kind,
          file,
          state,
          deliver: typeof options["deliver"] === "string" ? options["deliver"] : "none",
          tally: tally as ListedTally,
          startedAt,
          updatedAt,
        }),
      );
      return { items };
    },

    "POST /sites/:site/imports/columns": ({ site, query, upload }) => imports.readColumns(site.id, upload, query.kind),

    "POST /sites/:site/imports/parts": ({ site, query, upload, by }) => imports.importPart(site, { upload, query }, by),
  };
}
