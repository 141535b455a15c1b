// The details of an audit line as readable text.

import { usePlatformName } from "../../common/api/platforms.ts";
import { useApi } from "../../common/api/query.ts";
import { useSite, useSiteId } from "../../common/api/session.ts";
import { capitalize } from "../../common/format/sentence.ts";
import { exactTime } from "../../common/format/times.ts";
import { filterReasonText, type FilterReason } from "../../common/format/reasons.ts";
import { isSetting, settingName, settingText } from "../../common/settings/settingNames.ts";
import { useScopeName } from "./scopes.ts";
import { settingsText } from "../../messages/settings.ts";
import { countText } from "../../common/format/numbers.ts";
import { stateWord } from "../../common/values.tsx";
import { usePlatforms } from "../integrations/connections.tsx";
import { commonText } from "../../messages/common.ts";
import { serverText } from "../../messages/server.ts";

const detailName = (name: string): string | undefined => (settingsText.audit.details as Readonly<Record<string, string>>)[name];

/** The relay's own changes have no person's name. */
export const actorName = (actor: string) =>
  actor === "relay"
    ? "Cleancast"
    : apiKeyForm.test(actor)
      ? settingsText.audit.apiKey(actor.replace(apiKeyForm, ""))
      : serverText(actor);

/** Begins the name of a program in the audit log. */
const apiKeyForm = /^API key /;

/** Returns the text for an action, or the stored one if this version does not know it. */
export const actionName = (action: string): string =>
  (settingsText.audit.actions as Readonly<Record<string, string>>)[action] ?? capitalize(action);

const toWords = (name: string) => name.replaceAll("_", " ").replaceAll(/[A-Z]/g, (one) => ` ${one.toLowerCase()}`);

const roleName = (role: string): string => (commonText.roles as Readonly<Record<string, string>>)[role] ?? role;
const scopeText = (scope: string): string =>
  (settingsText.apiKeys.scopeNames as Readonly<Record<string, string>>)[scope] ?? scope;
const linkScopeText = (scope: string): string =>
  (settingsText.sharing.scopes as Readonly<Record<string, string>>)[scope] ?? scope;

const times = new Set(["oldUntil", "expiresAt", "to", "from"]);
const ids = new Set(["id", "newId", "connection", "event", "webhook"]);

/** `name` is empty where the text needs none; an id can be copied. */
export type Detail = {
  name: string;
  text: string;
  before?: string | null;
  isId: boolean;
  /** The platform that the text names. */
  platform?: string;
};

type SecretChange = { secret: keyof typeof settingsText.audit.secrets };
/** Of a secret, the log says only that it changed. */
const isSecretChange = (value: unknown): value is SecretChange =>
  typeof value === "object" && value !== null && "secret" in value;

const hasBefore = (before: unknown, name: string) => typeof before === "object" && before !== null && Object.hasOwn(before, name);

export function useDetails(): (detail: Record<string, unknown>) => Detail[] {
  const scopeName = useScopeName();
  const platformName = usePlatformName();
  const timeZone = useSite()?.timeZone;
  const connections = useApi("GET /sites/:site/connections", { params: { site: useSiteId() } }).data?.items;

  function valueText(name: string, value: unknown): string {
    if (value === null) return name === "events" ? settingsText.audit.allEvents : commonText.none;
    if (typeof value === "boolean") return value ? settingsText.audit.yes : settingsText.audit.no;
    if (typeof value === "number" && !times.has(name)) return countText(value);
    if (typeof value === "number" && times.has(name)) return exactTime(value, timeZone);
    if (typeof value === "string") {
      if (isSetting(name)) return settingText(value);
      if (name === "from" || name === "site") return scopeName(value);
      if (name === "role") return roleName(value);
      if (name === "state") return stateWord(value);
      if (name === "scopes") return scopeText(value);
      if (name === "scope") return linkScopeText(value);
      return name === "platform" ? platformName(value) : serverText(value);
    }
    if (Array.isArray(value)) return value.map((one) => valueText(name, one)).join(", ") || commonText.none;
    if (isSecretChange(value)) return settingsText.audit.secrets[value.secret];
    if (name === "reasons") return filterReasonText(value as FilterReason);
    return JSON.stringify(value) ?? "";
  }

  const settings = usePlatforms().data?.items ?? [];

  /** Settings of a connection have the labels of its platform. */
  function labelOf(platform: unknown, name: string): string | undefined {
    const [kind, ...rest] = name.split(".");
    if (kind === "event" && rest.length > 0) return settingsText.audit.nameOf(rest.join("."));
    if (kind === "map" && rest.length > 0) return settingsText.audit.mappingOf(rest.join("."));
    return settings.find(({ id }) => id === platform)?.settings.find((one) => one.name === name)?.label;
  }

  /** Returns the platform of the connection that the detail names by its id. */
  function platformOf(detail: Record<string, unknown>): Detail[] {
    if ("platform" in detail) return [];
    const found = connections?.find(({ id }) => id === detail["id"] || id === detail["connection"]);
    return found
      ? [
          {
            name: settingsText.audit.details.platform,
            text: platformName(found.platform),
            isId: false,
            platform: found.platform,
          },
        ]
      : [];
  }

  /** Returns the former value, where the line has one. */
  function beforeText(before: unknown, name: string): string | null {
    const value = (before as Record<string, unknown> | undefined)?.[name];
    return value === undefined ? null : valueText(name, value);
  }

  return ({ before, ...detail }) => [
    ...Object.entries(detail)
      // Leaves out false and absent values, unless they were changed.
      .filter(([name, value]) => (value !== false && value !== undefined) || hasBefore(before, name))
      .map(([name, value]) => {
        // A comparison's "event" is the name of one.
        const isId = ids.has(name) && typeof value === "string" && !(name === "event" && "from" in detail);
        const known = labelOf(detail["platform"], name) ?? detailName(name);
        if (value === true && known && !hasBefore(before, name)) return { name: "", text: known, isId };
        return {
          name: (isSetting(name) ? settingName(name) : undefined) ?? known ?? toWords(name),
          text: valueText(name, value),
          before: beforeText(before, name),
          isId,
          ...(name === "platform" && typeof value === "string" ? { platform: value } : {}),
        };
      }),
    ...platformOf(detail),
  ];
}
