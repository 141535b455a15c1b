// ⌘K: finds any page, site, event or key.

import "@mantine/spotlight/styles.layer.css";
import { createSpotlight, Spotlight, type SpotlightActionData } from "@mantine/spotlight";
import { useDebouncedValue } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import { Globe, KeyRound, ListTree, Search, SquareArrowOutUpRight } from "lucide-react";
import { useEffect, useState } from "react";
import { sitePages } from "../../pages.ts";
import { hashIfEmail } from "../../common/format/hashEmail.ts";
import { useApi } from "../../common/api/query.ts";
import { useSiteId, useSites } from "../../common/api/session.ts";
import { frameText } from "../../messages/frame.ts";

const [store, spotlight] = createSpotlight();
export const openJump = spotlight.open;

/** Mantine selects the first action while typing, but not one that is found later. */
function markFirst(): void {
  const list = document.getElementById(store.getState().listId);
  if (!list || list.querySelector("[data-selected]")) return;
  list.querySelector("[data-action]")?.setAttribute("data-selected", "true");
  store.updateState((state) => ({ ...state, selected: 0 }));
}

export default function Jump() {
  const site = useSiteId();
  const navigate = useNavigate();
  const [text, setText] = useState("");
  // This component is loaded when the user opens the search, so it opens immediately.
  useEffect(openJump, []);
  const [search] = useDebouncedValue(text.trim(), 250);
  const [hashed, setHashed] = useState("");
  useEffect(() => {
    void hashIfEmail(search).then(setHashed);
  }, [search]);
  const sites = useSites().data?.items ?? [];
  const keys =
    useApi("GET /sites/:site/keys", { params: { site } }, { enabled: site !== "" && search !== "" }).data
      ?.items ?? [];
  const events =
    useApi(
      "GET /sites/:site/events",
      { params: { site }, query: { search: hashed, limit: 5 } },
      { enabled: site !== "" && hashed.length >= 3 },
    ).data?.items ?? [];
  useEffect(() => {
    if (text !== "") markFirst();
  }, [text, keys.length, events.length]);
  const go = (to: string) => () => void navigate({ to });

  const pageActions: SpotlightActionData[] = site
    ? sitePages.map(({ path }) => ({
        id: path,
        label: frameText.pages[path],
        leftSection: <SquareArrowOutUpRight size={16} />,
        onClick: go(`/sites/${site}/${path}`),
      }))
    : [];
  const actions: SpotlightActionData[] = [
    ...pageActions,
    ...sites.map(({ id, name }) => ({
      id: `site ${id}`,
      label: name,
      description: frameText.jump.site,
      leftSection: <Globe size={16} />,
      onClick: go(`/sites/${id}/overview`),
    })),
    ...keys.map(({ id, name, prefix }) => ({
      id: `key ${id}`,
      label: name,
      description: frameText.jump.key(prefix),
      leftSection: <KeyRound size={16} />,
      onClick: go(`/sites/${site}/configuration/keys`),
    })),
    ...events.map(({ id, event, orderId }) => ({
      id: `event ${id}`,
      label: `${event}${orderId ? ` · ${orderId}` : ""}`,
      description: frameText.jump.event,
      // Spotlight filters by label and keywords, and the label does not contain an email or event id.
      keywords: [search],
      leftSection: <ListTree size={16} />,
      onClick: go(`/sites/${site}/events/${id}`),
    })),
    {
      id: "account",
      label: frameText.menu.account,
      description: frameText.jump.account,
      onClick: go("/account"),
    },
  ];
  return (
    <Spotlight
      store={store}
      actions={actions}
      query={text}
      onQueryChange={setText}
      shortcut={["mod + K"]}
      limit={9}
      scrollable
      nothingFound={frameText.jump.nothing}
      searchProps={{
        leftSection: <Search size={18} />,
        placeholder: frameText.jump.hint,
        "aria-label": frameText.jump.label,
      }}
    />
  );
}
