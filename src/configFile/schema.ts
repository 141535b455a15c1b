// Describes the configuration file, once: the check of a file, the published JSON Schema and the reference page come from here.

import { z } from "zod";
import { maxPasswordLength } from "../access/password.ts";
import { platforms } from "../platforms/index.ts";
import type { Platform } from "../platforms/platform.ts";
import { maxListLength } from "../sites/settingForms.ts";
import { describeSettings, settingLabels, withDefaults } from "../sites/settings.ts";
import { maxConnections } from "../sites/connect.ts";
import { maxSources } from "../sites/sources.ts";
import { settingsOf, type Kind } from "../sources/kind.ts";
import { kinds } from "../sources/kinds/index.ts";

/** What the reference and editors say of a field. `fallback` is its default where that is not part of the check. */
const about = (description: string, example: unknown, fallback?: unknown) => ({
  description,
  examples: [example],
  ...(fallback !== undefined && { default: fallback }),
});

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
  )
  .refine((text) => text.split(",", maxListLength + 1).length <= maxListLength, `must have at most ${maxListLength} entries`);

const defaultSettings = describeSettings(withDefaults({}));

const settings = z
  .strictObject(
    Object.fromEntries(
      settingLabels.map(({ label, help, example }) => [
        label,
        settingValue.optional().meta(about(help, example, defaultSettings[label])),
      ]),
    ),
  )
  .meta(
    about(
      "Settings of the site, as `cleancast site set SITE name=value` takes them; lists are written as lists. Settings that are not named stay as they are.",
      { time_zone: "Europe/Berlin" },
      {},
    ),
  );

const key = z
  .strictObject({
    name: name.meta(about("The name of the key.", "HubSpot")),
    key: secret
      .min(20, "must be at least 20 characters")
      .regex(/^[\x21-\x7e]+$/, "must be letters, digits and signs without spaces")
      .optional()
      .meta(
        about(
          "The key itself, as a reference: `${NAME}` or `@file`. Only its hash is stored. Either this or `hash`.",
          "${HUBSPOT_KEY}",
        ),
      ),
    hash: z
      .string()
      .trim()
      .toLowerCase()
      .regex(/^[0-9a-f]{64}$/, "must be the SHA-256 of the key: 64 hex characters")
      .optional()
      .meta(about("The SHA-256 of the key in hex, in place of the key.", "0123456789abcdef".repeat(4))),
    mode: z.enum(["live", "test"]).default("live").meta(about("Events of a test key are never counted.", "test")),
    expires: z
      .union([z.iso.date(), z.iso.datetime()], "must be a date like 2027-01-31 or a time like 2027-01-31T12:00:00Z")
      .optional()
      .meta(about("When the key expires: a date (00:00 UTC) or a time.", "2027-01-31", "never")),
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
      .meta(
        about(
          "The settings of the connection. Those that are not named stay as they are.",
          { access_token: "${META_TOKEN}" },
          {},
        ),
      ),
    events: z
      .union([z.literal("all"), z.array(z.string().min(1)).min(1)], "must be all or a list of names")
      .optional()
      .meta(about("The events that are sent: `all`, or a list of names.", ["purchase", "lead"], "all")),
    ...(platform.events && {
      event_names: z
        .record(z.string().min(1), scalar)
        .optional()
        .meta(about("The platform's name for an event, by the name that your server sends.", { lead: "Contact" }, {})),
    }),
    ...(platform.fields?.length && {
      fields: z
        .strictObject(
          Object.fromEntries(platform.fields.map(({ name: field, help }) => [field, scalar.optional().describe(help)])),
        )
        .optional()
        .meta(about("The source of a field of the platform.", { "custom_data.content_name": "productName" }, {})),
    }),
    values: z
      .record(z.string().min(1), scalar)
      .optional()
      .meta(
        about(
          "The value that the platform receives, by the name of the event, or `*` for all others: `20%`, `15 EUR`, `net`, `shoes 20%, others 5%`, or `as sent`.",
          { purchase: "20%" },
          {},
        ),
      ),
    paused: yesNo.optional().meta(about("`true` holds deliveries back; none is lost.", true, false)),
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
    name: name
      .default(kind.name)
      .meta(about("The name of the source, by which it is found. The kind's name by default.", kind.name)),
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
      .meta(
        about(
          "The settings of the source. Those that are not named stay as they are.",
          { signing_secret: "${STRIPE_SECRET}" },
          {},
        ),
      ),
    paused: yesNo.optional().meta(about("`true` lets the sender wait: its requests are to be repeated later.", true, false)),
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
    .meta(about("Receives the totals. It may contain a token: then write it as a reference.", "https://example.com/totals")),
  secret: secret
    .regex(/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/, "must be whsec_ and at least 24 random bytes in base64")
    .optional()
    .meta(
      about(
        "Signs the requests, as a reference. Without it one is created, which `cleancast webhook rotate ID` replaces.",
        "${TOTALS_SECRET}",
        "a new one",
      ),
    ),
  send_empty: yesNo.optional().meta(about("`false` skips periods without events.", false, true)),
  disabled: yesNo.optional().meta(about("`true` keeps the periods and pushes none.", true, false)),
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
          .meta(
            about("`folder` for the operator's CLEANCAST_EXPORT_FOLDER, or `s3://BUCKET/PREFIX`.", "s3://my-bucket/cleancast"),
          ),
        endpoint: z
          .string()
          .max(2048)
          .optional()
          .meta(about("The address of the store. Required for a bucket.", "https://s3.eu-central-1.amazonaws.com")),
        region: z
          .string()
          .max(100)
          .optional()
          .meta(about("The region of the store.", "eu-central-1", "us-east-1")),
        key_id: z
          .string()
          .max(500)
          .optional()
          .meta(about("The id of the store's key. Required for a new bucket.", "AKIAEXAMPLE")),
        secret: secret
          .optional()
          .meta(about("The secret of the key, as a reference. Required for a new bucket.", "${EXPORT_SECRET}")),
        format: z
          .enum(["parquet", "ndjson"])
          .optional()
          .meta(about("The form of the files.", "ndjson", "parquet")),
        people: yesNo.optional().meta(about("`true` adds the SHA-256 of the email.", true, false)),
        since: z
          .union([z.iso.date(), z.iso.datetime()], "must be a date like 2026-11-01 or a time like 2026-11-01T12:00:00Z")
          .optional()
          .meta(
            about(
              "Also exports the past from here on. It counts when the export is added or its place changes.",
              "2026-11-01",
              "the present hour",
            ),
          ),
      }),
    ],
    "must be off or have the field to",
  )
  .meta(about("Hourly files of events, deliveries and attempts; `off` ends them.", { to: "folder" }, "off"));

export type DataExportEntry = z.output<typeof dataExport>;

export const siteEntry = z.strictObject({
  hosts: z
    .array(host)
    .min(1, "must name at least one host")
    .meta(about("The hosts of the site. The site is found by any of them; the first names a new site.", ["store.example.com"])),
  name: name.optional().meta(about("The name in the dashboard.", "Store", "the first host")),
  settings: settings.optional(),
  keys: z
    .array(key)
    .optional()
    .meta(about("Inbound keys. The first key of a site turns inbound on.", [{ name: "HubSpot", key: "${HUBSPOT_KEY}" }], [])),
  connections: z
    .array(connection)
    .max(maxConnections, `must have at most ${maxConnections} entries`)
    .optional()
    .meta(about("Connections to platforms, one for each account.", [{ platform: "sandbox" }], [])),
  sources: z
    .array(source)
    .max(maxSources, `must have at most ${maxSources} entries`)
    .optional()
    .meta(about("Systems that send their own webhooks, such as Stripe.", [{ kind: "stripe" }], [])),
  webhooks: z
    .array(webhook)
    .optional()
    .meta(about("Webhooks that receive the totals.", [{ url: "https://example.com/totals" }], [])),
  data_export: dataExport.optional(),
});

const member = z.strictObject({
  email: z.string().min(3, "must be an email address").max(320).meta(about("The member's email address.", "ada@example.com")),
  role: z
    .enum(["viewer", "admin", "owner"])
    .meta(about("viewer can read, admin can change, owner can also manage members.", "admin")),
  sites: z
    .union([z.literal("all"), z.array(host).min(1)], "must be all or a list of hosts")
    .default("all")
    .meta(about("`all`, or a host of each site on which the member has the role.", ["store.example.com"])),
  password: z
    .string()
    .min(1, "must not be empty")
    .max(maxPasswordLength, `must be at most ${maxPasswordLength} characters`)
    .optional()
    .meta(
      about(
        "The first password of a new member, as a reference: `${NAME}` or `@file`. Members change it in the dashboard, and the file never changes it. Without it a new member is invited.",
        "${OWNER_PASSWORD}",
        "an invitation",
      ),
    ),
  name: name.optional().meta(about("The name of a new member who has a password.", "Ada", "the email up to the @")),
});

export const configurationFile = z
  .strictObject({
    version: z
      .union([z.literal(fileVersion), z.literal(1)], `must be ${fileVersion}`)
      .meta(about("The version of the format.", 1)),
    sites: z
      .array(siteEntry)
      .optional()
      .meta(about("The sites of the installation.", [{ hosts: ["store.example.com"] }], [])),
    members: z
      .array(member)
      .optional()
      .meta(
        about(
          "The people who may sign in. A new one is invited, or added with a password.",
          [{ email: "ada@example.com", role: "owner" }],
          [],
        ),
      ),
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
    override({ zodSchema, jsonSchema }) {
      // Those of values that are written in several forms are left out otherwise.
      const { examples, default: fallback } = z.globalRegistry.get(zodSchema) ?? {};
      Object.assign(jsonSchema, examples && { examples }, fallback !== undefined && { default: fallback });
      const { description: _text, examples: _examples, default: _default, ...form } = jsonSchema;
      const { type, pattern, format, minLength = 0 } = form;
      if (type !== "string" || !(pattern || format || minLength > 1)) return;
      for (const keyword of Object.keys(form)) Reflect.deleteProperty(jsonSchema, keyword);
      jsonSchema.anyOf = [form, reference];
    },
  });
