// The edges of the Graph API that fill the pickers: businesses, ad accounts and their datasets (pixels).

import { accessError, metaError, metaKnown, unknownObject } from "./access.ts";
import type { Answer, Call, Context } from "../shared/standin.ts";

type Node = Readonly<Record<string, unknown>> & { id: string };

const business: Node = {
  id: metaKnown.businessId,
  name: "Example Shop Ltd",
  verification_status: "verified",
};
const adAccount = (id: string, name: string): Node => ({
  id: `act_${id}`,
  account_id: id,
  name,
  currency: "EUR",
  account_status: 1,
  business,
});
const pixel = (id: string, name: string): Node => ({
  id,
  name,
  is_unavailable: false,
  creation_time: "2025-01-15T09:00:00+0000",
  last_fired_time: "2026-11-13T18:20:00+0000",
  owner_business: business,
});

const adAccounts = [adAccount(metaKnown.adAccountId, "Example Shop"), adAccount(metaKnown.otherAdAccountId, "Example Outlet")];
const pixels = [pixel(metaKnown.pixelId, "Shop dataset"), pixel(metaKnown.otherPixelId, "Outlet dataset")];

/** The lists below each object, by their path. */
const edges: Readonly<Record<string, readonly Node[]>> = {
  "me/adaccounts": adAccounts,
  "me/businesses": [business],
  "me/assigned_ad_accounts": adAccounts,
  [`${metaKnown.businessId}/owned_ad_accounts`]: adAccounts,
  [`${metaKnown.businessId}/client_ad_accounts`]: [],
  [`${metaKnown.businessId}/owned_pixels`]: pixels,
  [`${metaKnown.businessId}/client_pixels`]: [],
  [`${metaKnown.businessId}/adspixels`]: pixels,
  [`act_${metaKnown.adAccountId}/adspixels`]: pixels.slice(0, 1),
  [`act_${metaKnown.otherAdAccountId}/adspixels`]: pixels.slice(1),
};
const objects: readonly Node[] = [{ id: "me", name: "Example Shop system user" }, business, ...adAccounts, ...pixels];

/** Returns only the id unless `fields` asks for more: a picker without `fields` shows numbers. */
function selected(node: Node, call: Call): Record<string, unknown> {
  const names = (call.query.get("fields") ?? "").split(",").map((name) => name.trim());
  const chosen = Object.fromEntries(Object.entries(node).filter(([name]) => names.includes(name)));
  return { ...chosen, id: node.id === "me" ? "6000000000000001" : node.id };
}

const permissionsFor = (path: string): string[] =>
  path.includes("business") || path.startsWith(metaKnown.businessId) ? ["business_management"] : ["ads_read", "ads_management"];

export function listEdge(call: Call, context: Context): Answer {
  const { id = "", edge = "" } = call.params;
  const path = `${id}/${edge}`;
  const fault = accessError(call, context, permissionsFor(path));
  if (fault) return fault;
  const nodes = edges[path];
  if (!nodes) return unknownObject("GET", id);
  const limit = Math.max(1, Number(call.query.get("limit") ?? 25) || 25);
  const after = call.query.get("after");
  const start = after === null ? 0 : nodes.findIndex((node) => cursorOf(node) === after) + 1;
  const page = nodes.slice(start, start + limit);
  const last = page.at(-1);
  if (!last) return { status: 200, body: { data: [] } };
  const more = start + limit < nodes.length;
  const next = new URL(call.path, "https://graph.facebook.com");
  for (const [name, value] of call.query) if (name !== "access_token") next.searchParams.set(name, value);
  next.searchParams.set("after", cursorOf(last));
  return {
    status: 200,
    body: {
      data: page.map((node) => selected(node, call)),
      paging: {
        cursors: { before: cursorOf(page[0] ?? last), after: cursorOf(last) },
        ...(more ? { next: next.href } : {}),
      },
    },
  };
}

const cursorOf = (node: Node) => Buffer.from(node.id).toString("base64url");

export function readObject(call: Call, context: Context): Answer {
  const fault = accessError(call, context, ["ads_read", "ads_management", "business_management"]);
  if (fault) return fault;
  const found = objects.find(({ id }) => id === call.params.id);
  return found ? { status: 200, body: selected(found, call) } : unknownObject("GET", call.params.id ?? "");
}

const dedupFeedback = {
  dedupe_key: "event_id",
  browser_events_with_dedupe_key: { percentage: 98 },
  server_events_with_dedupe_key: { percentage: 100 },
  overall_browser_coverage_from_dedupe_key: { percentage: 91.5 },
};

/** The Dataset Quality API, which a token from Events Manager may use too. */
export function readQuality(call: Call, context: Context): Answer {
  const fault = accessError(call, context, ["ads_read", "ads_management"]);
  if (fault) return fault;
  const fields = call.query.get("fields") ?? "";
  if (!isKnownField(fields)) return metaError({ message: `(#100) Tried accessing nonexisting field (${fields})`, code: 100 });
  const id = call.query.get("dataset_id") ?? "";
  if (!pixels.some((one) => one.id === id))
    return metaError({ message: "The dataset does not exist.", code: 100, subcode: 2_044_055 });
  // Some datasets do not have the field.
  if (fields.includes("dedupe_key_feedback") && id === metaKnown.otherPixelId)
    return metaError({
      message: "(#100) Tried accessing nonexisting field (dedupe_key_feedback)",
      code: 100,
    });
  if (fields.includes("dedupe_key_feedback"))
    return { status: 200, body: { web: [{ event_name: "Purchase", dedupe_key_feedback: [dedupFeedback] }] } };
  if (!fields.includes("event_match_quality")) return { status: 200, body: { web: [{ event_name: "Purchase" }] } };
  const purchase = {
    event_name: "Purchase",
    event_match_quality: {
      composite_score: 6.8,
      match_key_feedback: [
        { identifier: "email", coverage: { percentage: 100 } },
        { identifier: "phone", coverage: { percentage: 42 } },
      ],
      diagnostics: [],
    },
    event_coverage: { percentage: 62, goal_percentage: 75 },
    data_freshness: { upload_frequency: "real_time" },
  };
  return { status: 200, body: { web: [purchase] } };
}

/** The fields of a web event that the documentation lists; dedup_key_feedback is in its text and does not work. */
const qualityFields = new Set(
  "event_name event_match_quality composite_score match_key_feedback identifier coverage percentage potential_aly_acr_increase description diagnostics name solution affected_event_count total_event_count event_coverage goal_percentage dedupe_key_feedback dedupe_key browser_events_with_dedupe_key server_events_with_dedupe_key overall_browser_coverage_from_dedupe_key data_freshness upload_frequency acr".split(
    " ",
  ),
);

function isKnownField(fields: string): boolean {
  const names = /^web\{(?<inner>.*)\}$/
    .exec(fields)
    ?.groups?.inner?.split(/[{},]+/)
    .filter(Boolean);
  return names !== undefined && names.length > 0 && names.every((name) => qualityFields.has(name));
}
