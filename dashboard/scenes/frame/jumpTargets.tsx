// What ⌘K offers: actions, pages, platforms, sites, keys, events and the documentation.

import { useDebouncedValue } from "@mantine/hooks";
import { useLocation } from "@tanstack/react-router";
import { BookOpen, FileText, Globe, KeyRound, ListTree, Plug, UserRound, type LucideIcon } from "lucide-react";
import { useEffect, useState } from "react";
import { sitePages } from "../../pages.ts";
import { usePlatformNames } from "../../common/api/platforms.ts";
import { useApi } from "../../common/api/query.ts";
import { useMay, useSiteId, useSites } from "../../common/api/session.ts";
import { hashIfEmail } from "../../common/format/hashEmail.ts";
import { searchOfMode } from "../../common/lists/queryParams.ts";
import { frameText } from "../../messages/frame.ts";
import { guardText } from "../../messages/guard.ts";
import { useActions } from "./jumpActions.tsx";
import { matchPoints } from "./fuzzy.ts";
import { useRecentTargets } from "./recentTargets.ts";

export type Target = {
  id: string;
  group: Exclude<keyof typeof guardText.jump.groups, "recent">;
  label: string;
  /** A second name; it is searched as well. */
  about?: string;
  icon: LucideIcon;
  /** Its mark replaces the icon. */
  platform?: { id: string; name: string };
  to?: string;
  search?: Record<string, string | undefined>;
  /** The name of a dialog that the page opens. */
  hash?: string;
  /** A page outside of the dashboard. */
  href?: string;
  run?: () => void;
  /** The same on the command line. */
  command?: string;
  /** One of many: shown once something was typed, or if it was used lately. */
  isOneOfMany?: true;
  /** Found for what was typed, so its label need not contain it. */
  isFound?: true;
};

type TargetGroup = { name: keyof typeof guardText.jump.groups; targets: Target[] };

const maxShown = 12;
const maxOfGroup = 6;

/** Returns the targets that match, in groups, the group with the best match first. */
export function useTargets(text: string): TargetGroup[] {
  const typed = text.trim();
  const recent = useRecentTargets();
  const all = [
    ...useActions(typed),
    ...usePages(),
    ...usePlatforms(),
    ...useOtherSites(),
    ...useFound(typed),
    ...useDocumentation(typed),
  ];
  if (typed === "") return firstGroups(all, recent);
  const matches = all
    .map((target) => ({
      target,
      points: Math.max(matchPoints(`${target.label} ${target.about ?? ""}`.trim(), typed), target.isFound ? 0.5 : 0),
    }))
    .filter(({ points }) => points > 0)
    .toSorted((one, other) => other.points - one.points);
  return toGroups(matches.slice(0, maxShown).map(({ target }) => target));
}

/** Before anything is typed: what was used last, what can be done, and the pages. */
function firstGroups(all: readonly Target[], recent: readonly string[]): TargetGroup[] {
  const last = recent.flatMap((id) => all.find((one) => one.id === id) ?? []);
  const others = all.filter((one) => !last.includes(one) && !one.isOneOfMany);
  return [...(last.length > 0 ? [{ name: "recent" as const, targets: last }] : []), ...toGroups(others)];
}

function toGroups(targets: readonly Target[]): TargetGroup[] {
  const names = [...new Set(targets.map(({ group }) => group))];
  return names.map((name) => ({ name, targets: targets.filter(({ group }) => group === name).slice(0, maxOfGroup) }));
}

function usePages(): Target[] {
  const site = useSiteId();
  const account: Target = {
    id: "account",
    group: "pages",
    label: frameText.menu.account,
    about: guardText.jump.account,
    icon: UserRound,
    to: "/account",
  };
  if (!site) return [account];
  const pages = sitePages.map(({ path }): Target => ({
    id: path,
    group: "pages",
    label: frameText.pages[path],
    icon: FileText,
    to: `/sites/${site}/${path}`,
  }));
  return [...pages, account];
}

function usePlatforms(): Target[] {
  const site = useSiteId();
  const mayChange = useMay("admin", site || null);
  const names = usePlatformNames() ?? [];
  const connections = useApi("GET /sites/:site/connections", { params: { site } }, { enabled: site !== "" });
  if (!site || !connections.data) return [];
  const connected = new Set(connections.data.items.map(({ platform }) => platform));
  return names.map(({ id, name }) => ({
    id: `platform ${id}`,
    group: "platforms",
    isOneOfMany: true,
    platform: { id, name },
    label: mayChange && !connected.has(id) ? guardText.jump.connect(name) : name,
    icon: Plug,
    to: `/sites/${site}/integrations/${id}`,
  }));
}

/** Opens the same section of the other site. */
function useOtherSites(): Target[] {
  const site = useSiteId();
  const { pathname } = useLocation();
  const section = (site && pathname.split("/")[3]) || "overview";
  return (useSites().data?.items ?? [])
    .filter(({ id }) => id !== site)
    .map(({ id, name, hosts }) => ({
      id: `site ${id}`,
      group: "sites",
      isOneOfMany: true,
      label: guardText.jump.switchTo(name),
      about: hosts.filter((host) => host !== name).join(" "),
      icon: Globe,
      to: `/sites/${id}/${section}`,
    }));
}

/** Keys by their name, and events that the relay finds. */
function useFound(text: string): Target[] {
  const site = useSiteId();
  const wanted = text.replace(/^(?:why|warum)\s+/i, "");
  const [search] = useDebouncedValue(wanted, 250);
  const [hashed, setHashed] = useState("");
  useEffect(() => {
    void hashIfEmail(search).then(setHashed);
  }, [search]);
  const keys = useApi("GET /sites/:site/keys", { params: { site } }, { enabled: site !== "" && search !== "" });
  const events = useApi(
    "GET /sites/:site/events",
    { params: { site }, query: { search: hashed, limit: 5 } },
    { enabled: site !== "" && hashed.length >= 3 },
  );
  // What was found for an earlier text does not belong to this one.
  const isCurrent = search === wanted;
  return [
    ...(isCurrent ? (events.data?.items ?? []) : []).map(({ id, event, orderId, mode }): Target => ({
      id: `event ${id}`,
      group: "events",
      label: orderId ? `${event} · ${orderId}` : event,
      about: mode === "test" ? guardText.jump.testEvent : "",
      icon: ListTree,
      to: `/sites/${site}/events/${id}`,
      search: searchOfMode(mode),
      isFound: true,
    })),
    ...(text === "" ? [] : (keys.data?.items ?? [])).map(({ id, name, prefix }): Target => ({
      id: `key ${id}`,
      group: "keys",
      label: name,
      about: `${prefix}…`,
      icon: KeyRound,
      to: `/sites/${site}/configuration/keys`,
    })),
  ];
}

function useDocumentation(text: string): Target[] {
  if (text === "") return [];
  return [
    {
      id: "documentation",
      group: "documentation",
      label: guardText.jump.searchDocs(text),
      icon: BookOpen,
      href: `/docs/?q=${encodeURIComponent(text)}`,
      isFound: true,
    },
  ];
}
