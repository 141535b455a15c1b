import type { Answer } from "../../contract/contract.ts";
import { say } from "../../kernel/messages/message.ts";
import { Missing, Refusal } from "../../kernel/refusal.ts";
import { findSite } from "../../sites/manage.ts";
import { findSource } from "../../sites/sources.ts";
import { readPairs, readTextFile, siteName, table, timeText, type CliCommand, type CommandContext } from "../context.ts";
import { listItems, moreText, readPaging, withPaging, type PagingOptions } from "../lists.ts";
import { confirm } from "../terminal/confirm.ts";

type Source = Answer<"GET /sites/:site/sources">["items"][number];
type SourceRequest = Answer<"GET /sites/:site/sources/:source/requests">["items"][number];

export function sourceCommands(program: CliCommand): void {
  const source = program.command("source").description("sources: Stripe, Shopify, HubSpot … with their own webhooks");

  source
    .command("kinds [kind]")
    .description("list the kinds of sources, or the settings of one kind")
    .run(async ({ call, print }, wanted: string | undefined) => {
      const kinds = await call("GET /source-kinds", {});
      if (wanted !== undefined) {
        const kind = kinds.items.find((one) => one.id === wanted);
        if (!kind)
          throw new Missing("kind", say("unknown_kind_of", { id: wanted, known: kinds.items.map((one) => one.id).join(", ") }));
        return print(
          kind,
          `${kind.name}: ${kind.about}\n\n${table(["SETTING", "", "MEANING"], kind.settings.map(settingText), "No settings.")}`,
        );
      }
      const cells = kinds.items.map(({ id, name, about, settings }) => [
        id,
        name,
        settings.flatMap((one) => (one.required ? [one.name] : [])).join(", ") || "–",
        about,
      ]);
      print(kinds, table(["KIND", "NAME", "REQUIRED SETTINGS", "ABOUT"], cells, "No kinds."));
    });

  source
    .command("add <site> <kind> [name=value...]")
    .description("add a source; its address is for the sender, and a secret")
    .option("--name <name>", "a name for lists; the kind's by default")
    .run(async ({ directory, call, print }, siteText: string, kind: string, words: string[], options: { name?: string }) => {
      const { id: site } = findSite({ directory }, siteText);
      const { name } = options;
      const body = { kind, settings: readPairs(words), ...(name !== undefined && { name }) };
      const added = await call("POST /sites/:site/sources", { params: { site }, body });
      const kinds = await call("GET /source-kinds", {});
      const steps = kinds.items.find((one) => one.id === kind)?.steps ?? [];
      const { id, missing } = added.source;
      const text = [
        added.address,
        "",
        `Source ${id}. The address is a secret: give it only to the sender.`,
        ...Object.entries(added.newSecrets).map(([one, value]) => `Its ${one}, which is not shown again: ${value}`),
        ...missing.map((one) => `When the sender shows its secret: cleancast source set ${id} ${one}=@file`),
        `Its settings: cleancast source kinds ${kind}`,
        "",
        ...steps.map((step, i) => `${i + 1}. ${plain(step).replaceAll("ADDRESS", added.address)}`),
      ];
      print(added, text.join("\n"));
    });

  source
    .command("list [site]")
    .description("list the sources of a site, or of all sites")
    .run(async ({ directory, call, print }, siteText: string | undefined) => {
      const { value, rows } = await listItems(directory, siteText, (params) => call("GET /sites/:site/sources", { params }));
      const cells = rows.map(({ site, item: one }) => [
        one.id,
        siteName(site),
        one.kind,
        one.name,
        stateText(one),
        timeText(one.lastRequestAt),
        countsText(one),
      ]);
      const head = ["ID", "SITE", "KIND", "NAME", "STATE", "LAST REQUEST (UTC)", "LAST 24 HOURS"];
      print(value, table(head, cells, "No sources yet. Add one: cleancast source add SITE KIND"));
    });

  withPaging(source.command("show <id>"), "requests")
    .description("show a source with its address, and the results of its last requests")
    .run(async (context, id: string, options: PagingOptions) => {
      const params = paramsOf(context, id);
      const shown = await context.call("GET /sites/:site/sources/:source", { params });
      const requests = await context.call("GET /sites/:site/sources/:source/requests", { params, query: readPaging(options) });
      const { kind, name, settings, oldAddressUntil } = shown.source;
      const text = [
        `Source ${id}: ${name} (${kind}), ${stateText(shown.source)}`,
        `Address: ${shown.address ?? "(lost: rotate it)"}`,
        ...shown.source.missing.map(
          (one) => `Without ${one} its sender has to repeat every request: cleancast source set ${id} ${one}=@file`,
        ),
        ...(oldAddressUntil === null ? [] : [`The address before is valid until ${timeText(oldAddressUntil)} UTC.`]),
        ...Object.entries(settings).map(([setting, value]) => `  ${setting} = ${value}`),
        "",
        table(
          ["RECEIVED (UTC)", "KIND OF EVENT", "OUTCOME", "REASON", "EVENT"],
          requests.items.map(lineText),
          "No requests yet.",
        ),
      ];
      context.print({ ...shown, requests }, text.join("\n") + moreText(requests));
    });

  source
    .command("set <id> [name=value...]")
    .description("change settings of a source; an empty value removes one")
    .option("--name <name>", "another name for lists")
    .run(async (context, id: string, words: string[], options: { name?: string }) => {
      const { name } = options;
      const body = { settings: readPairs(words), ...(name !== undefined && { name }) };
      const changed = await context.call("PATCH /sites/:site/sources/:source", { params: paramsOf(context, id), body });
      context.print(changed, `Source ${id} is changed.`);
    });

  source
    .command("fields <id>")
    .description("list the fields of the last request, with masked values")
    .run(async (context, id: string) => {
      const shapes = await context.call("GET /sites/:site/sources/:source/shapes", { params: paramsOf(context, id) });
      const cells = (shapes.items[0]?.fields ?? []).map(({ path, type, sample }) => [path, type, sample]);
      context.print(shapes, table(["FIELD", "TYPE", "VALUE"], cells, "No requests yet."));
    });

  source
    .command("test <id> <file>")
    .description("try a request with this body; nothing is stored or sent")
    .option("--header <name=value...>", "headers of the request, such as x-shopify-topic=orders/paid")
    .run(async (context, id: string, file: string, options: { header?: string[] }) => {
      const headers = { "content-type": "application/json", ...readPairs(options.header ?? [], refuseFile) };
      const body = { headers, body: readTextFile(file) };
      const tested = await context.call("POST /sites/:site/sources/:source/preview", { params: paramsOf(context, id), body });
      const text = tested.outcomes.map(({ outcome, reason, detail, type, fields }) => {
        const why = reason === null ? "" : `: ${reason}${detail === null ? "" : ` (${detail})`}`;
        const lines = Object.entries(fields).map(
          ([name, value]) => `  ${name} = ${typeof value === "string" ? value : JSON.stringify(value)}`,
        );
        return [`${outcome}${why}${type === "" ? "" : ` – ${type}`}`, ...lines].join("\n");
      });
      context.print(tested, text.join("\n"));
    });

  for (const [name, done] of [
    ["pause", "is paused: its requests are answered so that the sender repeats them later"],
    ["resume", "is active"],
  ] as const)
    source
      .command(`${name} <id>`)
      .description(name === "pause" ? "let the sender wait: its requests are to be repeated later" : "take requests again")
      .run(async (context, id: string) => {
        const answer = await context.call(`POST /sites/:site/sources/:source/${name}`, { params: paramsOf(context, id) });
        context.print(answer, `Source ${id} ${done}.`);
      });

  source
    .command("rotate <id>")
    .description("make a new address; the old one stays valid for 24 hours")
    .run(async (context, id: string) => {
      const rotated = await context.call("POST /sites/:site/sources/:source/rotate", { params: paramsOf(context, id) });
      context.print(
        rotated,
        `${rotated.address}\n\nThe old address of source ${id} is valid until ${timeText(rotated.oldUntil)} UTC.`,
      );
    });

  source
    .command("remove <id>")
    .description("remove a source: its address stops at once")
    .option("--yes", "do it without asking")
    .run(async (context, id: string, { yes }: { yes?: boolean }) => {
      const params = paramsOf(context, id);
      const { name, kind } = findSource(context.directory.sites(), id);
      const what = `This removes source ${id}, ${name} (${kind}). Its address stops at once, and what it remembered of customers goes.`;
      await confirm({ what, yes });
      context.print(await context.call("DELETE /sites/:site/sources/:source", { params }), `Source ${id} is removed.`);
    });
}

const paramsOf = ({ directory }: CommandContext, id: string) => ({ site: findSource(directory.sites(), id).siteId, source: id });

/** Without the marks that other places show as bold. */
const plain = (step: string) => step.replaceAll(/\*([^*]+)\*/g, "$1");

function refuseFile(): never {
  throw new Refusal("header", "A header is given as name=value.");
}

const stateText = ({ state, isReadable, missing }: Source) =>
  !isReadable ? "cannot be read" : state === "active" && missing.length > 0 ? `no ${missing.join(", ")} yet` : state;

const countsText = ({ last24h }: Source) =>
  Object.entries(last24h)
    .map(([outcome, count]) => `${count} ${outcome}`)
    .join(", ") || "–";

type KindSetting = Answer<"GET /source-kinds">["items"][number]["settings"][number];

const settingText = ({ name, required, default: usual, help }: KindSetting): string[] => [
  name,
  required ? "required" : usual ? `default ${usual}` : "",
  help,
];

const lineText = ({ at, type, outcome, reason, detail, eventId }: SourceRequest): string[] => [
  timeText(at),
  type || "–",
  outcome,
  reason === null ? "–" : detail === null ? reason : `${reason} (${detail})`,
  eventId ?? "–",
];
