// The page of one source: set-up, requests, mapping and settings.

import { Group, Stack, Text } from "@mantine/core";
import { Inbox } from "lucide-react";
import { useState } from "react";
import { Actions } from "../../common/Actions.tsx";
import { Page } from "../../common/Page.tsx";
import { useMay, useSiteId, usePathParameter } from "../../common/api/session.ts";
import { RichText } from "../../common/format/RichText.tsx";
import { useQueryParams } from "../../common/lists/queryParams.ts";
import { PlatformMark } from "../../common/platforms/PlatformMark.tsx";
import { Empty, LoadState } from "../../common/states.tsx";
import { Time } from "../../common/values.tsx";
import { sourcesText } from "../../messages/sources.ts";
import { MappingTab, PreviewTab } from "./Mapping.tsx";
import { Requests } from "./Requests.tsx";
import { SettingsTab } from "./SettingsTab.tsx";
import { Setup } from "./Setup.tsx";
import { SourceActions } from "./SourceActions.tsx";
import { useKinds, type Kind } from "./kinds.ts";
import { isWaiting, SourceState, useSource, type Source } from "./parts.tsx";

export default function SourcePage() {
  const site = useSiteId();
  const id = usePathParameter("source");
  const kinds = useKinds();
  const sources = useSource(site, id);
  const source = sources.data?.items[0];
  const kind = kinds.data?.find((one) => one.id === source?.kind);
  if (source && kind) return <OneSource key={id} site={site} source={source} kind={kind} />;
  return (
    <Page title={sourcesText.page.source} back={{ to: `/sites/${site}/sources`, label: sourcesText.title }}>
      <LoadState
        of={{
          // One that was just created is not in the list yet.
          data: kinds.data && sources.data && !sources.isFetching,
          error: kinds.error ?? sources.error,
          refetch: () => Promise.all([kinds.refetch(), sources.refetch()]),
        }}
        empty={
          <Empty icon={Inbox} title={sourcesText.page.notFound}>
            {sourcesText.page.aboutNotFound}
          </Empty>
        }
      />
    </Page>
  );
}

function OneSource({ site, source, kind }: { site: string; source: Source; kind: Kind }) {
  const { text, search } = useQueryParams();
  const mayChange = useMay("admin", site);
  const tabs = [
    ...(mayChange ? (["setup"] as const) : []),
    "requests",
    ...(mayChange ? ([kind.isMapped ? "mapping" : "preview"] as const) : []),
    "settings",
  ] as const;
  // Of a new source the set-up, also when its first request has come: that is what the person is waiting for.
  const [first] = useState(mayChange && (isWaiting(source) || source.missing.length > 0) ? "setup" : "requests");
  const tab = tabs.find((one) => one === text("tab")) ?? first;
  const path = `/sites/${site}/sources/${source.id}`;
  const props = { site, source, kind };
  return (
    <Page
      title={source.name}
      mark={<PlatformMark id={kind.id} size={24} />}
      back={{ to: `/sites/${site}/sources`, label: sourcesText.title }}
      about={<Header source={source} kind={kind} />}
      actions={
        mayChange && (
          <Actions>
            <SourceActions {...props} />
          </Actions>
        )
      }
      tabs={tabs.map((one) => ({
        value: one,
        label: sourcesText.page.tabs[one],
        to: path,
        search: { ...search, tab: one },
      }))}
      tab={tab}
    >
      {tab === "setup" && <Setup {...props} />}
      {tab === "requests" && <Requests site={site} source={source} />}
      {tab === "mapping" && <MappingTab {...props} />}
      {tab === "preview" && <PreviewTab site={site} source={source} />}
      {tab === "settings" && <SettingsTab {...props} mayChange={mayChange} />}
    </Page>
  );
}

function Header({ source, kind }: { source: Source; kind: Kind }) {
  return (
    <Stack gap={8}>
      <span>{kind.about}</span>
      <Group gap="md">
        <SourceState source={source} />
        <Text size="sm" component="span">
          {source.lastRequestAt === null ? (
            sourcesText.page.noRequest
          ) : (
            <RichText text={sourcesText.page.lastRequest} tags={{ time: () => <Time at={source.lastRequestAt} /> }} />
          )}
        </Text>
      </Group>
    </Stack>
  );
}
