// The details of an audit line in plain words.

import { exactTime } from "../../common/format.ts";
import { usePlatformName } from "../../common/platforms.ts";
import { useSite } from "../../common/session.tsx";
import { settingNames, settingText } from "../../common/settingNames.ts";
import { usePlaceName } from "./places.ts";

const words: Record<string, string> = {
  id: "id",
  newId: "new id",
  oldUntil: "old one good until",
  openedInbound: "switched the inbound webhook on",
  stateReason: "reason",
  sendEmpty: "sends empty periods",
  expiresAt: "expires",
};

/** What the relay and the command line do has no person's name. */
export const actorName = (actor: string) => (actor === "relay" ? "Cleancast itself" : actor);

const spaced = (name: string) =>
  name.replaceAll("_", " ").replaceAll(/[A-Z]/g, (one) => ` ${one.toLowerCase()}`);

const times = new Set(["oldUntil", "expiresAt", "to", "from"]);

export function useDetailText(): (detail: Record<string, unknown>) => string {
  const placeName = usePlaceName();
  const platformName = usePlatformName();
  const timeZone = useSite()?.timeZone;

  function valueText(name: string, value: unknown): string {
    if (value === null) return "none";
    if (typeof value === "boolean") return value ? "yes" : "no";
    if (typeof value === "number" && times.has(name)) return exactTime(value, timeZone);
    if (typeof value === "string") {
      if (name in settingNames) return settingText(value);
      if (name === "from" || name === "site") return placeName(value);
      return name === "platform" ? platformName(value) : value;
    }
    if (Array.isArray(value)) return value.map((one) => valueText(name, one)).join(", ") || "none";
    return JSON.stringify(value) ?? "";
  }

  return (detail) =>
    Object.entries(detail)
      // A thing that did not happen is no detail.
      .filter(([, value]) => value !== false && value !== undefined)
      .map(([name, value]) =>
        value === true && words[name]
          ? words[name]
          : `${settingNames[name] ?? words[name] ?? spaced(name)}: ${valueText(name, value)}`,
      )
      .join("; ");
}
