// Declares the routes of sources: systems of the customer that send their own webhooks.

import { z } from "zod";
import { ignoreReasons, sourceCategories, sourceOutcomes } from "../../kernel/event.ts";
import { count, done, id, mode, name, page, paging, type Route, time } from "../route.ts";

const settings = z
  .record(z.string().max(100), z.string().max(10_000))
  .describe("Settings by name, as the kind declares them. Secret ones are write-only.");

const address = z.string().describe("The address for the sender. It is a secret: whoever has it can send to an unsigned source.");

const outcomes = z.partialRecord(z.enum(sourceOutcomes), count);

const source = z
  .object({
    id,
    kind: z.string(),
    name: z.string(),
    state: z.enum(["active", "paused"]),
    isReadable: z.boolean().describe("False where its row is damaged: its requests are to be repeated until it is repaired."),
    missing: z.array(z.string()).describe("Secrets that are not given yet: its requests are to be repeated until they are."),
    settings,
    createdAt: time,
    updatedAt: time,
    oldAddressUntil: time.nullable().describe("Until when the address before is valid too; null after that."),
    lastRequestAt: time.nullable().describe("Time of the last authentic request; null if there was none."),
    last24h: outcomes.describe(
      "The requests of the last 24 hours by their outcome. `refused` had a wrong signature, `postponed` are to be repeated by the sender.",
    ),
  })
  .meta({ id: "Source" });

const fields = z.record(z.string(), z.unknown());

export const sourceRoutes = {
  "GET /source-kinds": {
    summary: "List the kinds of sources, with their settings and guides",
    allow: "signed in",
    answer: z.object({
      items: z.array(
        z.object({
          id: z.string(),
          name: z.string(),
          category: z.enum(sourceCategories),
          about: z.string(),
          docs: z.string().describe("The sender's own page; empty where there is none."),
          signs: z.boolean().describe("True where requests can be verified by a signature or password."),
          isMapped: z.boolean().describe("True where you map the fields."),
          hasTestFlag: z.boolean().describe("True where the sender marks test data itself."),
          settings: z.array(
            z.object({
              name: z.string(),
              label: z.string(),
              help: z.string(),
              required: z.boolean(),
              secret: z.boolean(),
              generated: z.boolean().describe("True for a secret that is made where none is given."),
              forLookUps: z.boolean().describe("True for the key of look-ups, which few sources need."),
              multiline: z.boolean(),
              default: z.string().nullable(),
              choices: z.array(z.string()).nullable(),
              mapping: z
                .enum(["expression", "condition"])
                .nullable()
                .describe("The part of the mapping language that it is written in."),
            }),
          ),
          rules: z.array(z.object({ name: z.string(), gives: z.string() })).describe("What becomes of which requests."),
          steps: z.array(z.string()).describe("What to do at the sender. ADDRESS stands for the address."),
          retries: z.array(z.string()),
          notes: z.array(z.string()),
        }),
      ),
    }),
  },
  "GET /sites/:site/sources": {
    summary: "List the sources of a site",
    allow: "viewer",
    query: z.object({ source: id.optional().describe("Only this source.") }),
    answer: z.object({ items: z.array(source) }),
  },
  "POST /sites/:site/sources": {
    summary: "Add a source",
    allow: "admin",
    scopes: ["keys"],
    body: z.object({ kind: z.string().max(100), name: name.optional(), settings: settings.default({}) }),
    answer: z.object({
      source,
      address,
      newSecrets: z
        .record(z.string(), z.string())
        .describe("Secrets that were made for you to enter at the sender: only shown here."),
    }),
  },
  "GET /sites/:site/sources/:source": {
    summary: "Show a source with its address",
    allow: "admin",
    scopes: ["keys"],
    answer: z.object({ source, address: address.nullable().describe("Null where it was lost: rotate it.") }),
  },
  "PATCH /sites/:site/sources/:source": {
    summary: "Change a source; a secret that is replaced stays valid for 24 hours",
    allow: "admin",
    body: z.object({ name: name.optional(), settings: settings.default({}).describe("An empty value removes a setting.") }),
    answer: z.object({ source }),
  },
  "POST /sites/:site/sources/:source/pause": {
    summary: "Pause a source: its requests are answered so that the sender repeats them later",
    allow: "admin",
    answer: done,
  },
  "POST /sites/:site/sources/:source/resume": {
    summary: "Resume a paused source",
    allow: "admin",
    answer: done,
  },
  "POST /sites/:site/sources/:source/rotate": {
    summary: "Make a new address; the old one stays valid for 24 hours",
    allow: "admin",
    scopes: ["keys"],
    answer: z.object({ address, oldUntil: time }),
  },
  "POST /sites/:site/sources/:source/preview": {
    summary: "Show what would become of a request; nothing is stored or sent",
    allow: "admin",
    body: z.object({
      headers: z.record(z.string().max(200), z.string().max(10_000)).default({}),
      body: z
        .string()
        .max(1024 * 1024)
        .optional()
        .describe("The body as the sender would write it."),
      request: id
        .optional()
        .describe(
          "The id of a kept request, in place of headers and body. The fields of the person are masked. An API key needs `people`, too: settings can map contact data to other fields.",
        ),
      settings: settings.optional().describe("Settings to try in place of the saved ones."),
    }),
    answer: z.object({
      outcomes: z.array(
        z.object({
          outcome: z.enum(["conversion", "refund", "learned", "ignored"]),
          reason: z.enum(ignoreReasons).nullable(),
          detail: z.string().nullable(),
          type: z.string(),
          deliveryId: z.string().nullable(),
          mode: mode.nullable(),
          fields: fields.describe("The fields as /__cc/inbound would take them."),
        }),
      ),
    }),
  },
  "GET /sites/:site/sources/:source/requests": {
    summary: "List the last requests of a source, newest first, without their content",
    allow: "viewer",
    query: z.object({ ...paging, outcome: z.enum(sourceOutcomes).optional() }),
    answer: page(
      z.object({
        id,
        at: time,
        outcome: z.enum(sourceOutcomes),
        reason: z.string().nullable().describe("Why it was ignored or refused."),
        detail: z.string().nullable(),
        type: z.string().describe("The sender's word for the kind of event."),
        deliveryId: z.string().nullable().describe("The sender's id of the delivery."),
        eventId: z.string().nullable(),
        attempts: z.number().describe("Attempts to end its wait: look-ups at the sender, or looks at what it sent since."),
        dueAt: time.nullable().describe("When the next such attempt is made; null for a request that does not wait."),
      }),
    ),
  },
  "GET /sites/:site/sources/:source/shapes": {
    summary: "List the shapes of the last requests: names and types of fields, with masked values",
    allow: "viewer",
    answer: z.object({
      items: z.array(
        z.object({
          id,
          at: time,
          type: z.string(),
          isKept: z.boolean().describe("True where the whole request is kept: a preview can use it."),
          fields: z.array(z.object({ path: z.string(), type: z.string(), sample: z.string() })),
        }),
      ),
    }),
  },
  "DELETE /sites/:site/sources/:source": {
    summary: "Remove a source: its address stops at once, and what it remembered goes",
    allow: "admin",
    answer: done,
  },
} satisfies Record<string, Route>;
