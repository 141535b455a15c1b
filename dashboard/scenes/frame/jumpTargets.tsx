// What ⌘K offers: pages, actions, platforms, sites, keys and events.

import { useDebouncedValue } from "@mantine/hooks";
import { useLocation } from "@tanstack/react-router";
import { Globe, KeyRound, ListTree, Plug, Plus, RotateCw, SquareArrowOutUpRight, UserRound, type LucideIcon } from "lucide-react";
import { useEffect, useState } from "react";
import { sitePages } from "../../pages.ts";
import { usePlatformNames } from "../../common/api/platforms.ts";
import { useApi } from "../../common/api/query.ts";
import { useMay, useSiteId, useSites } from "../../common/api/session.ts";
import { hashIfEmail } from "../../common/format/hashEmail.ts";
import { searchOfMode } from "../../common/lists/queryParams.ts";
import { frameText } from "../../messages/frame.ts";

export type Target = {
  id: string;
  label: string;
  about: string;
  icon: LucideIcon;
  /** Its mark replaces the icon. */
  platform?: { id: string; name: string };
  to: string;
  search?: Record<string, string | undefined>;
  /** The name of a dialog that the page opens. */
  hash?: string;
  /** Found by the relay, so its label need not contain what was typed. */
  isFound?: true;
};

const maxShown = 9;

/** Returns the targets that contain all words of the text, pages first. */
export function useTargets(text: string): Target[] {
  const all = [...usePages(), ...useActions(), ...usePlatforms(text), ...useOtherSites(), ...useFound(text)];
  const account: Target = {
    id: "account",
    label: frameText.menu.account,
    about: frameText.jump.account,
    icon: UserRound,
    to: "/account",
  };
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = ({ label, about, isFound }: Target) => {
    const name = `${label} ${about}`.toLowerCase();
    return isFound === true || words.every((word) => name.includes(word));
  };
  return [...all, account].filter(matches).slice(0, maxShown);
}

function usePages(): Target[] {
  const site = useSiteId();
  if (!site) return [];
  return sitePages.map(({ path }) => ({
    id: path,
    label: frameText.pages[path],
    about: frameText.jump.page,
    icon: SquareArrowOutUpRight,
    to: `/sites/${site}/${path}`,
  }));
}

function useActions(): Target[] {
  const site = useSiteId();
  const mayChange = useMay("admin", site || null);
  if (!site || !mayChange) return [];
  const about = frameText.jump.action;
  return [
    {
      id: "createKey",
      label: frameText.jump.createKey,
      about,
      icon: Plus,
      to: `/sites/${site}/configuration/keys`,
      hash: "create",
    },
    {
      id: "replay",
      label: frameText.jump.replay,
      about,
      icon: RotateCw,
      to: `/sites/${site}/integrations/log`,
      search: { state: "rejected" },
      hash: "replay",
    },
  ];
}

/** Platforms appear once something was typed: there are more of them than fit. */
function usePlatforms(text: string): Target[] {
  const site = useSiteId();
  const mayChange = useMay("admin", site || null);
  const names = usePlatformNames() ?? [];
  const connections = useApi("GET /sites/:site/connections", { params: { site } }, { enabled: site !== "" && text !== "" });
  if (!site || text === "" || !connections.data) return [];
  const connected = new Set(connections.data.items.map(({ platform }) => platform));
  return names.map(({ id, name }) => ({
    id: `platform ${id}`,
    platform: { id, name },
    label: mayChange && !connected.has(id) ? frameText.jump.connect(name) : name,
    about: frameText.jump.platform,
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
    .map(({ id, name }) => ({
      id: `site ${id}`,
      label: frameText.jump.switchTo(name),
      about: frameText.jump.site,
      icon: Globe,
      to: `/sites/${id}/${section}`,
    }));
}

/** Keys by their name, and events that the relay finds. */
function useFound(text: string): Target[] {
  const site = useSiteId();
  const [search] = useDebouncedValue(text.trim(), 250);
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
  const isCurrent = search === text.trim();
  return [
    ...(text === "" ? [] : (keys.data?.items ?? [])).map(({ id, name, prefix }): Target => ({
      id: `key ${id}`,
      label: name,
      about: frameText.jump.key(prefix),
      icon: KeyRound,
      to: `/sites/${site}/configuration/keys`,
    })),
    ...(isCurrent ? (events.data?.items ?? []) : []).map(({ id, event, orderId, mode }): Target => ({
      id: `event ${id}`,
      label: orderId ? `${event} · ${orderId}` : event,
      about: mode === "test" ? frameText.jump.testEvent : frameText.jump.event,
      icon: ListTree,
      to: `/sites/${site}/events/${id}`,
      search: searchOfMode(mode),
      isFound: true,
    })),
  ];
}
