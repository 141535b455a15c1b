// All platforms as cards, connected ones first, then the sandbox, with which one begins.

import { SimpleGrid, Stack, Text, TextInput, Title } from "@mantine/core";
import { Search } from "lucide-react";
import { useState } from "react";
import { Page } from "../../../common/Page.tsx";
import { useMay, useSiteId } from "../../../common/api/session.ts";
import { LoadState } from "../../../common/states.tsx";
import { matchPoints } from "../../frame/fuzzy.ts";
import { tabsOf, useConnections, usePlatforms, type Platform } from "../connections.tsx";
import { PlatformCard } from "./PlatformCard.tsx";
import { commonText } from "../../../messages/common.ts";
import { integrationsText } from "../../../messages/integrations.ts";

export default function Platforms() {
  const site = useSiteId();
  return (
    <Page title={integrationsText.title} about={integrationsText.about} tabs={tabsOf(site)} tab="platforms">
      <Cards site={site} />
    </Page>
  );
}

function Cards({ site }: { site: string }) {
  const platforms = usePlatforms();
  const connections = useConnections(site);
  const mayChange = useMay("admin", site);
  const [search, setSearch] = useState("");
  const error = platforms.error ?? connections.error;
  const refetch = () => Promise.all([platforms.refetch(), connections.refetch()]);
  if (error || !platforms.data || !connections.data)
    return <LoadState of={{ data: null, error, refetch }} rows={3} height={140} />;
  const all = connections.data.items;
  const of = ({ id }: Platform) => all.filter(({ platform }) => platform === id);
  const matching = platforms.data.items
    .filter(({ name }) => matchPoints(name, search) > 0)
    .toSorted((one, other) => Number(other.id === "sandbox") - Number(one.id === "sandbox"));
  const connected = matching.filter((one) => of(one).length > 0);
  const others = matching.filter((one) => of(one).length === 0);
  return (
    <>
      <div>
        <TextInput
          type="search"
          aria-label={integrationsText.find}
          placeholder={integrationsText.find}
          leftSection={<Search size={15} aria-hidden />}
          maw={320}
          value={search}
          onChange={({ currentTarget }) => setSearch(currentTarget.value)}
        />
        <div role="status">{matching.length === 0 && <Text c="dimmed">{commonText.nothingFound}</Text>}</div>
      </div>
      {connected.length > 0 && (
        <Section title={integrationsText.connected}>
          {connected.map((one) => (
            <PlatformCard key={one.id} site={site} platform={one} connections={of(one)} />
          ))}
        </Section>
      )}
      {others.length > 0 && (
        <Section title={connected.length > 0 ? integrationsText.notConnected : integrationsText.connectAny}>
          {others.map((one) => (
            <PlatformCard key={one.id} site={site} platform={one} connections={[]} {...(mayChange ? { mayConnect: true } : {})} />
          ))}
        </Section>
      )}
    </>
  );
}

function Section({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <Stack gap="sm" component="section">
      <Title order={2}>{title}</Title>
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="md">
        {children}
      </SimpleGrid>
    </Stack>
  );
}
