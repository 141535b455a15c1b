// Describes the configuration file, once: the check of a file, the published JSON Schema and the reference page come from here.

import { z } from "zod";
import { maxPasswordLength } from "../access/password.ts";
import { platforms } from "../platforms/index.ts";
import type { Platform } from "../platforms/platform.ts";
import { settingLabels } from "../sites/settings.ts";
import { settingsOf, type Kind } from "../sources/kind.ts";
import { kinds } from "../sources/kinds/index.ts";

/** The files of this version say `version: 1`. */
export const fileVersion = "1";

/** The document gives every scalar as text; the schema for editors also allows the forms that people write in YAML. */
const scalar = z
  .union([z.string(), z.number(), z.boolean()], "must be a single value")
  .transform(String)
  .pipe(z.string().max(200_000));
const yesNo = z
  .union([z.enum(["true", "false"]), z.boolean()], "must be true or false")
  .transform((value) => String(value) === "true");
const name = z
  .string()
  .trim()
  .min(1, "must not be empty")
  .max(100, "must be at most 100 characters")
  // A pattern of the published schema has no flag `u`, so it could not contain this.
  .refine((text) => !/\p{Cc}/u.test(text), "must be one line of text");
const host = z.string().min(1, "must not be empty").max(260);
const secret = z.string().min(1, "must not be empty").max(10_000);

/** Turns lists, numbers and booleans into the text that `cleancast site set` takes. */
const settingValue = z
  .union(
    [z.string(), z.number(), z.boolean(), z.array(z.union([z.string(), z.number()]))],
    "must be a single value or a list of values",
  )
  .transform((value) =>
    Array.isArray(value)
      ? value.join(",")
      : value === true || value === "true"
        ? "on"
        : value === false || value === "false"
          ? "off"
          : String(value),
  );

const settings = z
  .strictObject(Object.fromEntries(settingLabels.map(({ label, help }) => [label, settingValue.optional().describe(help)])))
  .describe(
    "Settings of the site, as `cleancast site set SITE name=value` takes them; lists are written as lists. Settings that are not named stay as they are.",
  );

const key = z
  .strictObject({
    name: name.describe("The name of the key."),
    key: secret
      .min(20, "must be at least 20 characters")
      .regex(/^[\x21-\x7e]+$/, "must be letters, digits and signs without spaces")
      .optional()
      .describe("The key itself, as a reference: `${NAME}` or `@file`. Only its hash is stored."),
    hash: z
      .string()
      .trim()
      .toLowerCase()
      .regex(/^[0-9a-f]{64}$/, "must be the SHA-256 of the key: 64 hex characters")
      .optional()
      .describe("The SHA-256 of the key in hex, in place of the key."),
    mode: z.enum(["live", "test"]).default("live").describe("Events of a test key are never counted."),
    expires: z
      .union([z.iso.date(), z.iso.datetime()], "must be a date like 2027-01-31 or a time like 2027-01-31T12:00:00Z")
      .optional()
      .describe("When the key expires: a date (00:00 UTC) or a time."),
  })
  .refine((one) => (one.key === undefined) !== (one.hash === undefined), "needs either key or hash");

const connectionOf = (platform: Platform) =>
  z.strictObject({
    platform: z.literal(platform.id).describe(`${platform.name}.`),
    settings: z
      .strictObject(
        Object.fromEntries(
          platform.settings.map(({ name: label, help, secret: isSecret }) => [
            label,
            scalar.optional().describe(isSecret ? `${help} A reference: \`\${NAME}\` or \`@file\`.` : help),
          ]),
        ),
      )
      .default({})
      .describe("The settings of the connection. Those that are not named stay as they are."),
    events: z
      .union([z.literal("all"), z.array(z.string().min(1)).min(1)], "must be all or a list of names")
      .optional()
      .describe("The events that are sent: `all`, or a list of names. All by default."),
    ...(platform.events && {
      event_names: z
        .record(z.string().min(1), scalar)
        .optional()
        .describe("The platform's name for an event, by the name that your server sends."),
    }),
    ...(platform.fields?.length && {
      fields: z
        .strictObject(
          Object.fromEntries(platform.fields.map(({ name: field, help }) => [field, scalar.optional().describe(help)])),
        )
        .optional()
        .describe("The source of a field of the platform."),
    }),
    values: z
      .record(z.string().min(1), scalar)
      .optional()
      .describe(
        "The value that the platform receives, by the name of the event, or `*` for all others: `20%`, `15 EUR`, `net`, `shoes 20%, others 5%`, or `as sent`.",
      ),
    paused: yesNo.optional().describe("`true` holds deliveries back; none is lost."),
  });

export type ConnectionEntry = {
  platform: string;
  settings: Record<string, string | undefined>;
  events?: "all" | string[] | undefined;
  event_names?: Record<string, string> | undefined;
  fields?: Record<string, string | undefined> | undefined;
  values?: Record<string, string> | undefined;
  paused?: boolean | undefined;
};

const forms = platforms.map(connectionOf);
const connection = z.discriminatedUnion("platform", forms as [(typeof forms)[number], ...typeof forms], {
  error: (issue) => (issue.code === "invalid_union" ? `must be one of ${platforms.map(({ id }) => id).join(", ")}` : undefined),
}) as unknown as z.ZodType<ConnectionEntry>;

const sourceOf = (kind: Kind) =>
  z.strictObject({
    kind: z.literal(kind.id).describe(`${kind.name}.`),
    name: name.default(kind.name).describe("The name of the source, by which it is found. The kind's name by default."),
    settings: z
      .strictObject(
        Object.fromEntries(
          settingsOf(kind).map(({ name: label, help, secret: isSecret }) => [
            label,
            scalar.optional().describe(isSecret ? `${help} A reference: \`\${NAME}\` or \`@file\`.` : help),
          ]),
        ),
      )
      .default({})
      .describe("The settings of the source. Those that are not named stay as they are."),
    paused: yesNo.optional().describe("`true` lets the sender wait: its requests are to be repeated later."),
  });

export type SourceEntry = {
  kind: string;
  name: string;
  settings: Record<string, string | undefined>;
  paused?: boolean | undefined;
};

const sourceForms = kinds.map(sourceOf);
const source = z.discriminatedUnion("kind", sourceForms as [(typeof sourceForms)[number], ...typeof sourceForms], {
  error: (issue) => (issue.code === "invalid_union" ? `must be one of ${kinds.map(({ id }) => id).join(", ")}` : undefined),
}) as unknown as z.ZodType<SourceEntry>;

const webhook = z.strictObject({
  url: z
    .string()
    .min(1, "must not be empty")
    .max(2048)
    .describe("Receives the totals. It may contain a token: then write it as a reference."),
  secret: secret
    .regex(/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/, "must be whsec_ and at least 24 random bytes in base64")
    .optional()
    .describe("Signs the requests, as a reference. Without it one is created, which `cleancast webhook rotate ID` replaces."),
  send_empty: yesNo.optional().describe("`false` skips periods without events. `true` by default."),
  disabled: yesNo.optional().describe("`true` keeps the periods and pushes none."),
});

const dataExport = z
  .union(
    [
      z.literal("off"),
      z.strictObject({
        to: z
          .string()
          .min(1, "must not be empty")
          .max(600)
          .describe("`folder` for the operator's CLEANCAST_EXPORT_FOLDER, or `s3://BUCKET/PREFIX`."),
        endpoint: z
          .string()
          .max(2048)
          .optional()
          .describe("The address of the store, like https://s3.eu-central-1.amazonaws.com."),
        region: z.string().max(100).optional().describe("The region of the store; us-east-1 by default."),
        key_id: z.string().max(500).optional().describe("The id of the store's key."),
        secret: secret.optional().describe("The secret of the key, as a reference."),
        format: z.enum(["parquet", "ndjson"]).optional().describe("The form of the files; parquet by default."),
        people: yesNo.optional().describe("`true` adds the SHA-256 of the email. `false` by default."),
        since: z
          .union([z.iso.date(), z.iso.datetime()], "must be a date like 2026-11-01 or a time like 2026-11-01T12:00:00Z")
          .optional()
          .describe("Also exports the past from here on. It counts when the export is added."),
      }),
    ],
    "must be off or have the field to",
  )
  .describe("Hourly files of events, deliveries and attempts; `off` ends them.");

export type DataExportEntry = z.output<typeof dataExport>;

export const siteEntry = z.strictObject({
  hosts: z
    .array(host)
    .min(1, "must name at least one host")
    .describe("The hosts of the site. The site is found by any of them; the first names a new site."),
  name: name.optional().describe("The name in the dashboard; the first host by default."),
  settings: settings.optional(),
  keys: z.array(key).optional().describe("Inbound keys. The first key of a site turns inbound on."),
  connections: z.array(connection).optional().describe("Connections to platforms, one for each account."),
  sources: z.array(source).optional().describe("Systems that send their own webhooks, such as Stripe."),
  webhooks: z.array(webhook).optional().describe("Webhooks that receive the totals."),
  data_export: dataExport.optional(),
});

const member = z.strictObject({
  email: z.string().min(3, "must be an email address").max(320).describe("The member's email address."),
  role: z.enum(["viewer", "admin", "owner"]).describe("viewer can read, admin can change, owner can also manage members."),
  sites: z
    .union([z.literal("all"), z.array(host).min(1)], "must be all or a list of hosts")
    .default("all")
    .describe("`all`, or a host of each site on which the member has the role."),
  password: z
    .string()
    .min(1, "must not be empty")
    .max(maxPasswordLength, `must be at most ${maxPasswordLength} characters`)
    .optional()
    .describe(
      "The first password of a new member, as a reference: `${NAME}` or `@file`. Members change it in the dashboard, and the file never changes it. Without it a new member is invited.",
    ),
  name: name.optional().describe("The name of a new member who has a password; the email up to the @ by default."),
});

export const configurationFile = z
  .strictObject({
    version: z.union([z.literal(fileVersion), z.literal(1)], `must be ${fileVersion}`).describe("The version of the format."),
    sites: z.array(siteEntry).optional().describe("The sites of the installation."),
    members: z.array(member).optional().describe("The people who may sign in. A new one is invited, or added with a password."),
  })
  .meta({ title: "Cleancast configuration file" });

export type ConfigurationFile = z.output<typeof configurationFile>;
export type SiteEntry = z.output<typeof siteEntry>;
export type KeyEntry = NonNullable<SiteEntry["keys"]>[number];
export type WebhookEntry = NonNullable<SiteEntry["webhooks"]>[number];
export type MemberEntry = NonNullable<ConfigurationFile["members"]>[number];

/** In the text of a file, a reference can stand for every value; it has the value's form only when it is replaced. */
const reference = { type: "string", pattern: String.raw`^@|\$\{[A-Za-z_]` } as const;

/** The published schema, for editors and other programs. */
export const toJsonSchema = () =>
  z.toJSONSchema(configurationFile, {
    io: "input",
    target: "draft-2020-12",
    override({ jsonSchema }) {
      const { description: _, ...form } = jsonSchema;
      const { type, pattern, format, minLength = 0 } = form;
      if (type !== "string" || !(pattern || format || minLength > 1)) return;
      for (const keyword of Object.keys(form)) Reflect.deleteProperty(jsonSchema, keyword);
      jsonSchema.anyOf = [form, reference];
    },
  });
