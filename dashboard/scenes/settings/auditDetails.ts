// The details of an audit line as readable text.

import { usePlatformName } from "../../common/api/platforms.ts";
import { useApi } from "../../common/api/query.ts";
import { useSite, useSiteId } from "../../common/api/session.ts";
import { capitalize, exactTime } from "../../common/format/format.ts";
import { filterReasonText, type FilterReason } from "../../common/format/reasons.ts";
import { settingNames, settingText } from "../../common/settings/settingNames.ts";
import { useScopeName } from "./scopes.ts";

const detailNames: Record<string, string> = {
  id: "id",
  newId: "new id",
  oldUntil: "old one valid until",
  openedInbound: "turned the inbound webhook on",
  stateReason: "reason",
  sendEmpty: "sends empty periods",
  expiresAt: "expires",
};

/** The relay's own changes have no person's name. */
export const actorName = (actor: string) => (actor === "relay" ? "Cleancast" : actor);

/** An action about a "key" is about an inbound key. */
export function actionText(action: string): string {
  return capitalize(action.replace(/^key /, "inbound key "));
}

const toWords = (name: string) =>
  name.replaceAll("_", " ").replaceAll(/[A-Z]/g, (one) => ` ${one.toLowerCase()}`);

const times = new Set(["oldUntil", "expiresAt", "to", "from"]);
const ids = new Set(["id", "newId", "connection", "event", "webhook"]);

/** `name` is empty where the text needs none; an id can be copied. */
export type Detail = { name: string; text: string; isId: boolean };

export function useDetails(): (detail: Record<string, unknown>) => Detail[] {
  const scopeName = useScopeName();
  const platformName = usePlatformName();
  const timeZone = useSite()?.timeZone;
  const connections = useApi("GET /sites/:site/connections", { params: { site: useSiteId() } }).data?.items;

  function valueText(name: string, value: unknown): string {
    if (value === null) return "none";
    if (typeof value === "boolean") return value ? "yes" : "no";
    if (typeof value === "number" && times.has(name)) return exactTime(value, timeZone);
    if (typeof value === "string") {
      if (name in settingNames) return settingText(value);
      if (name === "from" || name === "site") return scopeName(value);
      return name === "platform" ? platformName(value) : value;
    }
    if (Array.isArray(value)) return value.map((one) => valueText(name, one)).join(", ") || "none";
    if (name === "reasons") return filterReasonText(value as FilterReason);
    return JSON.stringify(value) ?? "";
  }

  /** Returns the platform of the connection that the detail names by its id. */
  function platformOf(detail: Record<string, unknown>): Detail[] {
    if ("platform" in detail) return [];
    const found = connections?.find(({ id }) => id === detail["id"] || id === detail["connection"]);
    return found ? [{ name: "platform", text: platformName(found.platform), isId: false }] : [];
  }

  return (detail) => [
    ...Object.entries(detail)
      // Leaves out false and absent values.
      .filter(([, value]) => value !== false && value !== undefined)
      .map(([name, value]) => {
        const isId = ids.has(name) && typeof value === "string";
        if (value === true && detailNames[name]) return { name: "", text: detailNames[name], isId };
        return {
          name: settingNames[name] ?? detailNames[name] ?? toWords(name),
          text: valueText(name, value),
          isId,
        };
      }),
    ...platformOf(detail),
  ];
}
