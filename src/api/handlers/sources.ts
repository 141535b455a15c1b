// Serves sources: kinds, addresses, settings, and what became of their requests.

import type { Answer } from "../../contract/contract.ts";
import type { sourceRoutes } from "../../contract/webhooks/sources.ts";
import { clickIdName } from "../../identity/clickIds.ts";
import { say } from "../../kernel/messages/message.ts";
import { Denied, Missing, Refusal } from "../../kernel/refusal.ts";
import { hourMs } from "../../kernel/time.ts";
import { sourceOutcomes } from "../../kernel/event.ts";
import type { Site, Source } from "../../sites/directory.ts";
import { namesNoSite } from "../../sites/hosts.ts";
import {
  addSource,
  changeSource,
  describeSource,
  findSource,
  pathOf,
  previewKind,
  removeSource,
  rotateAddress,
  setSourceState,
} from "../../sites/sources.ts";
import { readSourceBody } from "../../sources/body.ts";
import { settingsOf, type Kind } from "../../sources/kind.ts";
import { kinds } from "../../sources/kinds/index.ts";
import { runKind, type Mapped } from "../../sources/run.ts";
import { maskText, type Shape } from "../../sources/shape.ts";
import type { Handlers } from "../call.ts";
import type { ApiContext } from "../context.ts";
import { pageOf, readCursor } from "../lists.ts";

/** As the observer writes it. */
type KeptRequest = { headers: Record<string, string>; body: string };

/** Whoever maps fields has to recognise the person's, not to read them. */
function maskPerson(fields: Mapped["fields"]): Mapped["fields"] {
  const masked = { ...fields };
  for (const name of ["email", "phone", "firstName", "lastName"] as const)
    if (masked[name] !== undefined) masked[name] = maskText(String(masked[name]));
  return masked;
}

type Described = Answer<"GET /sites/:site/sources">["items"][number];

export function sourceHandlers(context: ApiContext): Handlers<keyof typeof sourceRoutes> {
  const { store, now } = context;

  /** Describes all sources, or only one. */
  async function describeAll(site: Site, only?: string): Promise<Described[]> {
    const fromHour = Math.floor(now() / hourMs) - 23;
    const [uses, counts] = await Promise.all([
      store.keyUse.sumUses(site.id, fromHour, only),
      store.inboundCounts.sumSources(site.id, fromHour),
    ]);
    const described = only === undefined ? site.sources : site.sources.filter(({ id }) => id === only);
    return described.map((source) => ({
      ...describeSource(source, now()),
      lastRequestAt: uses.get(source.id)?.lastUsedAt ?? null,
      last24h: Object.fromEntries(
        sourceOutcomes.flatMap((outcome) => {
          const counted = counts.find(({ kind }) => kind === `source:${source.id}:${outcome}`);
          return counted ? [[outcome, counted.count]] : [];
        }),
      ),
    }));
  }

  async function describe(site: Site, { id }: Source): Promise<Described> {
    const fresh = context.directory.site(site.id) ?? site;
    const [found] = await describeAll(fresh, id);
    if (!found) throw new Error("the source is gone");
    return found;
  }

  /** The sender calls a host of the site, or the relay's own name where the site has none but that of this machine. */
  function addressOf(site: Site, source: Source): string | null {
    const path = pathOf(source);
    const host = site.servedHosts.find((one) => !namesNoSite(one));
    return path === null ? null : (host === undefined ? context.publicUrl : `https://${host}`) + path;
  }

  const find = (site: Site, id: string) => findSource([site], id);

  async function readKept({ siteId, id }: Source, requestId: string): Promise<KeptRequest> {
    const shapes = await store.sourceRequests.listShapes(siteId, id, now());
    const kept = shapes.find((one) => one.id === requestId)?.request ?? null;
    if (kept === null) throw new Missing("request", say("source_request_gone"));
    return JSON.parse(kept) as KeptRequest;
  }

  return {
    async "GET /source-kinds"() {
      return { items: kinds.map(describeKind) };
    },

    async "GET /sites/:site/sources"({ site, query }) {
      return { items: await describeAll(site, query.source) };
    },

    async "POST /sites/:site/sources"({ site, body, by }) {
      const { source, newSecrets } = await addSource(context, site, body.kind, body, by);
      return { source: await describe(site, source), address: addressOf(site, source) ?? "", newSecrets };
    },

    async "GET /sites/:site/sources/:source"({ site, params }) {
      const source = find(site, params.source);
      return { source: await describe(site, source), address: addressOf(site, source) };
    },

    async "PATCH /sites/:site/sources/:source"({ site, params, body, by }) {
      const source = await changeSource(context, find(site, params.source), body, by);
      return { source: await describe(site, source) };
    },

    async "POST /sites/:site/sources/:source/pause"({ site, params, by }) {
      await setSourceState(context, find(site, params.source), "paused", by);
      return {};
    },

    async "POST /sites/:site/sources/:source/resume"({ site, params, by }) {
      await setSourceState(context, find(site, params.source), "active", by);
      return {};
    },

    async "POST /sites/:site/sources/:source/rotate"({ site, params, by }) {
      const source = await rotateAddress(context, find(site, params.source), by);
      const oldUntil = source.tokens.find(({ until }) => until !== null)?.until ?? by.now;
      return { address: addressOf(site, source) ?? "", oldUntil };
    },

    async "POST /sites/:site/sources/:source/preview"({ site, params, body, actor }) {
      const source = find(site, params.source);
      // A mapping can put contact data of a kept request into any field.
      if (body.request !== undefined && actor?.kind === "API key" && !actor.scopes.includes("people"))
        throw new Denied("forbidden", say("needs_scope", { scope: "people" }));
      const { compiled, settings } = previewKind(source, body.settings, now());
      const { kind } = compiled;
      const given = body.request === undefined ? body : await readKept(source, body.request);
      if (given.body === undefined) throw new Refusal("body", say("source_nothing_to_preview"));
      const headers = Object.fromEntries(Object.entries(given.headers).map(([name, value]) => [name.toLowerCase(), value]));
      const read = await readSourceBody(Buffer.from(given.body), headers["content-type"] ?? "", kind.bodies, kind.jsonFields);
      const shown = body.request === undefined ? (fields: Mapped["fields"]) => fields : maskPerson;
      return {
        outcomes: runKind(compiled, { headers, body: read }, settings, clickIdName).map((one) => ({
          outcome: one.is,
          reason: one.is === "ignored" ? one.reason : null,
          detail: one.is === "ignored" ? one.detail : null,
          type: one.type,
          deliveryId: one.deliveryId,
          mode: one.is === "ignored" ? null : one.mode,
          fields: one.is === "ignored" ? {} : shown(one.fields),
        })),
      };
    },

    async "GET /sites/:site/sources/:source/requests"({ site, params, query: { cursor, limit, outcome } }) {
      const { siteId, id } = find(site, params.source);
      const before = readCursor(cursor)?.id;
      const { items, next } = pageOf(await store.sourceRequests.list(siteId, id, { before, limit: limit + 1, outcome }), limit);
      return { items: items.map(({ siteId: _site, sourceId: _source, ...request }) => request), next };
    },

    async "GET /sites/:site/sources/:source/shapes"({ site, params }) {
      const { siteId, id } = find(site, params.source);
      const shapes = await store.sourceRequests.listShapes(siteId, id, now());
      return {
        items: shapes.map(({ id: request, at, type, shape, request: whole }) => ({
          id: request,
          at,
          type,
          isKept: whole !== null,
          fields: JSON.parse(shape) as Shape[],
        })),
      };
    },

    async "DELETE /sites/:site/sources/:source"({ site, params, by }) {
      await removeSource(context, find(site, params.source), by);
      return {};
    },
  };
}

function describeKind(kind: Kind): Answer<"GET /source-kinds">["items"][number] {
  const { id, name, category, about, docs, verification, isMapped = false, test, rules, guide } = kind;
  return {
    id,
    name,
    category,
    about,
    docs: docs.url,
    signs: verification.some(({ by }) => by !== "address"),
    isMapped,
    hasTestFlag: test !== undefined,
    settings: settingsOf(kind).map((one) => ({
      name: one.name,
      label: one.label,
      help: one.help,
      required: one.required ?? false,
      secret: one.secret ?? false,
      generated: one.generated ?? false,
      forLookUps: Object.values(kind.lookUps ?? {}).some(({ key }) => key === one.name),
      multiline: one.multiline ?? false,
      default: one.default ?? null,
      choices: one.choices ? [...one.choices] : null,
      mapping: one.mapping ?? null,
    })),
    rules: rules.map((rule) => ({ name: rule.name, gives: rule.gives === "ignore" ? `ignored: ${rule.reason}` : rule.gives })),
    steps: [...guide.steps],
    retries: [...guide.retries],
    notes: [...(guide.notes ?? [])],
  };
}
