// Queries and small components of the Integrations pages.

import { Group, Stack, Text } from "@mantine/core";
import { useMemo, type ReactNode } from "react";
import type { Answer } from "../../common/api/api.ts";
import { useApi } from "../../common/api/query.ts";
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

/** A platform that has no harmless call cannot do better, so its state is no warning. */
const proofOf = ({ proof: { state, isCheckable } }: Connection) => (state === "unproven" && !isCheckable ? "unprovable" : state);

/** The proof is of no interest while the credentials are refused. */
export function ConnectionState({ connection }: { connection: Connection }) {
  return (
    <Group gap="sm" wrap="nowrap">
      <State of={connection.state} {...(connection.state === "active" ? { word: integrationsText.connectedState } : {})} />
      {connection.state !== "needs reconnection" && <State of={proofOf(connection)} />}
    </Group>
  );
}
