// The configuration of the installation as a file: export, compare and apply.

import { z } from "zod";
import type { Route } from "./route.ts";

/** More than fit into a request with values of the usual length. */
const maxSecrets = 5000;

const file = z.object({
  text: z.string().min(1).max(500_000).describe("The configuration file, YAML or JSON."),
  prune: z.boolean().default(false).describe("True also removes what is not in the file, where the file has that list."),
  secrets: z
    .preprocess(
      (given, { issues }) => {
        // The record checks all of them in one turn of the event loop.
        const count = typeof given === "object" && given !== null ? Object.keys(given).length : 0;
        if (count > maxSecrets) issues.push({ code: "custom", message: `must have at most ${maxSecrets} fields`, input: given });
        return given;
      },
      z.record(z.string().max(200), z.string().max(20_000)),
    )
    .default({})
    .describe(
      `The values of the references in the file, at most ${maxSecrets}: \`\${NAME}\` is read from here, and from nowhere else.`,
    ),
});

const changes = z.array(
  z.object({
    kind: z.enum(["add", "change", "remove"]),
    what: z.string().describe("The thing that changes."),
    lines: z
      .array(z.object({ name: z.string(), before: z.string().nullable(), after: z.string().nullable() }))
      .describe("The values that change. Secrets are not shown."),
    loss: z.string().nullable().describe("What the change deletes for good; null where it deletes nothing."),
  }),
);
const unlisted = z.array(z.string()).describe("What exists and is not in the file. It stays.");

export const configurationRoutes = {
  "GET /configuration": {
    summary:
      "Export the configuration as a file, without secrets. Only an owner gets the members; an API key without the scope keys gets no inbound keys",
    allow: "admin",
    scopes: ["read"],
    answer: z.object({
      text: z.string().describe("The file, YAML. Each secret is a reference to a variable."),
      variables: z.array(z.string()).describe("The variables to which the file refers."),
    }),
  },
  "POST /configuration/plan": {
    summary: "Compare a configuration file with the installation; nothing is changed",
    allow: "admin",
    body: file,
    answer: z.object({
      changes,
      unlisted,
      notes: z.array(z.string()).describe("What the file says and stays otherwise, with the reason."),
    }),
  },
  "POST /configuration/apply": {
    summary: "Bring the installation to what a configuration file says. Members, and the deletion of sites, need the role owner",
    allow: "admin",
    body: file.extend({
      yes: z.boolean().default(false).describe("True also where data or access is deleted."),
    }),
    answer: z.object({
      changes,
      unlisted,
      notes: z
        .array(z.string())
        .describe("What the file says and stays otherwise, and what is shown only this once, such as the links of invitations."),
    }),
  },
} satisfies Record<string, Route>;
