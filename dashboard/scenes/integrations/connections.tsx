// Queries and small components of the Integrations pages.

import { Button, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useMemo, type ReactNode } from "react";
import type { Answer } from "../../common/api/api.ts";
import { useApi } from "../../common/api/query.ts";
import { useMay } from "../../common/api/session.ts";
import { State } from "../../common/values.tsx";
import { integrationsText } from "../../messages/integrations.ts";
import { usePlatformTexts } from "./platformTexts.ts";
import { translatePlatform } from "../../common/platforms/platformTexts.ts";

export type Platform = Answer<"GET /platforms">["items"][number];
export type Setting = Platform["settings"][number];
export type Connection = Answer<"GET /sites/:site/connections">["items"][number];

/** The tabs of Integrations. */
export const tabsOf = (site: string) => [
  { value: "platforms", label: integrationsText.tabs.platforms, to: `/sites/${site}/integrations` },
  { value: "log", label: integrationsText.tabs.log, to: `/sites/${site}/integrations/log` },
  { value: "quality", label: integrationsText.tabs.quality, to: `/sites/${site}/integrations/quality` },
  { value: "webhooks", label: integrationsText.tabs.webhooks, to: `/sites/${site}/integrations/webhooks` },
  { value: "export", label: integrationsText.tabs.export, to: `/sites/${site}/integrations/export` },
];

export function usePlatforms() {
  const { data, error, refetch } = useApi("GET /platforms", {});
  const texts = usePlatformTexts();
  // A change of the language mounts all components again.
  const translated = useMemo(
    () => data && texts && { items: data.items.map((platform) => translatePlatform(platform, texts[platform.id] ?? {})) },
    [data, texts],
  );
  return { data: translated, error, refetch };
}

export const useConnections = (site: string) => useApi("GET /sites/:site/connections", { params: { site } }, { everyMs: 15_000 });

/** Returns the value that distinguishes several connections of a platform: a pixel, an account, an address. */
export function accountOf(platform: Platform, { settings }: Connection): string | null {
  const open = platform.settings.filter(({ name, secret }) => !secret && settings[name]);
  const distinct = open.find(({ required }) => required) ?? open.find(({ name }) => name.endsWith("_id"));
  return distinct ? (settings[distinct.name] ?? null) : null;
}

/** The next step of a site that sends to no platform yet; nothing once it does. */
export function ConnectAny({ site }: { site: string }) {
  const mayChange = useMay("admin", site);
  const connections = useConnections(site).data?.items;
  if (!mayChange || connections?.length !== 0) return null;
  return (
    <Button component={Link} to={`/sites/${site}/integrations`}>
      {integrationsText.connectAny}
    </Button>
  );
}

/** A figure with its label above it. */
export function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Stack gap={0} miw={0}>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text size="sm" component="div" className="cc-number" truncate>
        {children}
      </Text>
    </Stack>
  );
}

/** Connected is only what the platform has confirmed. One that has no harmless call cannot do better, so that is no warning. */
export function ConnectionState({ connection: { state, verification } }: { connection: Connection }) {
  if (state !== "active") return <State of={state} />;
  if (verification.state === "verified") return <State of="verified" word={integrationsText.connectedState} />;
  return <State of={verification.isCheckable ? "unverified" : "unverifiable"} word={integrationsText.savedState} />;
}
