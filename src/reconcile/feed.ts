// The feed of a site: the address from which its list of orders is fetched once a day. People set, show and remove it here; the
// worker in feedWorker.ts fetches it.

import { readAddress, type AllowList } from "../delivery/addresses.ts";
import { say } from "../kernel/messages/message.ts";
import { Missing, Refusal, type By } from "../kernel/refusal.ts";
import type { Site } from "../sites/directory.ts";
import { auditLine, requireSettings } from "../sites/manage.ts";
import type { Feed, FeedAddress } from "../store/reconciliation/feeds.ts";
import type { Store } from "../store/store.ts";
import type { Mapping } from "../tables/columns.ts";
import { isTimeZone, type ValueRules } from "../tables/values.ts";
import { checkOrderFields } from "./readOrder.ts";

type FeedRequest = {
  url: string;
  /** Sent with every request, such as `Authorization`. */
  header?: { name: string; value: string } | null | undefined;
  /** Field → column, where the names of the columns do not tell. */
  columns?: Mapping | undefined;
  /** Of times without an offset; the site's by default. */
  timeZone?: string | undefined;
  dates?: ValueRules["dates"] | undefined;
  decimal?: ValueRules["decimal"] | undefined;
};

/** How the list of a feed is read. */
type FeedFormat = Pick<FeedRequest, "columns" | "timeZone" | "dates" | "decimal">;

type FeedStore = Pick<Store, "orderFeeds">;

export async function setFeed(store: FeedStore, site: Site, wanted: FeedRequest, by: By & { allow: AllowList }): Promise<Feed> {
  requireSettings(site);
  const read = readAddress(by.allow, wanted.url);
  if ("fault" in read) throw new Refusal("url", read.fault);
  const { columns, timeZone, dates, decimal } = wanted;
  if (timeZone !== undefined && !isTimeZone(timeZone)) throw new Refusal("timeZone", say("time_zone_invalid"));
  checkOrderFields(columns ?? {});
  const address: FeedAddress = { url: read.url, header: readHeader(wanted.header ?? null) };
  const format: FeedFormat = { columns, timeZone, dates, decimal };
  const line = auditLine(site.id, "order feed set", { origin: new URL(read.url).origin }, by);
  await store.orderFeeds.set(line, address, { ...format });
  return findFeed(store, site.id);
}

/** Their values are the client's, or would change what the request is. */
const ownHeaders = new Set(["host", "connection", "content-length", "transfer-encoding", "upgrade", "expect", "te"]);
const maxHeaderLength = 4096;

function readHeader(header: FeedAddress["header"]): FeedAddress["header"] {
  if (header === null) return null;
  const [name, value] = [header.name.trim(), header.value.trim()];
  if (!/^[A-Za-z][\w-]{0,99}$/.test(name) || ownHeaders.has(name.toLowerCase()))
    throw new Refusal("header", say("header_name_invalid"));
  // No fault quotes the value: it is a secret.
  if (value === "" || value.length > maxHeaderLength || !/^[\x20-\x7e]+$/.test(value))
    throw new Refusal("header", say("header_value_invalid", { max: maxHeaderLength }));
  return { name, value };
}

export async function findFeed(store: FeedStore, siteId: string): Promise<Feed> {
  const feed = await store.orderFeeds.find(siteId);
  if (feed) return feed;
  throw new Missing("feed", say("no_order_feed"));
}

export async function removeFeed(store: FeedStore, siteId: string, by: By): Promise<void> {
  if (!(await store.orderFeeds.remove(auditLine(siteId, "order feed removed", {}, by))))
    throw new Missing("feed", say("no_order_feed"));
}

/** The relay fetches it within a minute. */
export async function fetchSoon(store: FeedStore, siteId: string): Promise<void> {
  await findFeed(store, siteId);
  await store.orderFeeds.makeDue(siteId);
}

/** Reads how the list of a feed is read; `timeZone` is the site's. */
export function formatOfFeed({ options }: Feed, timeZone: string): { requested: Mapping; rules: ValueRules } {
  const format = options as FeedFormat;
  return {
    requested: format.columns ?? {},
    rules: {
      timeZone: format.timeZone ?? timeZone,
      dates: format.dates ?? null,
      decimal: format.decimal ?? null,
    },
  };
}
