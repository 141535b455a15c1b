// The site's sources, and every kind of source as a card.

import { Box, Button, Divider, Group, SimpleGrid, Stack, Text, TextInput, Title, UnstyledButton } from "@mantine/core";
import { Link, useNavigate } from "@tanstack/react-router";
import { Plus, Search, SearchX } from "lucide-react";
import { useState } from "react";
import { sourceCategories } from "../../../src/kernel/event.ts";
import { Page } from "../../common/Page.tsx";
import { useMay, useSiteId } from "../../common/api/session.ts";
import { countText } from "../../common/format/numbers.ts";
import { useQueryParams } from "../../common/lists/queryParams.ts";
import { PlatformMark } from "../../common/platforms/PlatformMark.tsx";
import { Empty, LoadState } from "../../common/states.tsx";
import { Time } from "../../common/values.tsx";
import { commonText } from "../../messages/common.ts";
import { sourcesText } from "../../messages/sources.ts";
import { Fact } from "../integrations/connections.tsx";
import { AddSource } from "./AddSource.tsx";
import { useKinds, type Kind } from "./kinds.ts";
import { errorsOf, SourceState, useSources, type Source } from "./parts.tsx";

export default function Sources() {
  const site = useSiteId();
  return (
    <Page title={sourcesText.title} about={sourcesText.about}>
      <Lists site={site} />
    </Page>
  );
}

function Lists({ site }: { site: string }) {
  const { text, change } = useQueryParams();
  const navigate = useNavigate();
  const kinds = useKinds();
  const sources = useSources(site);
  const mayChange = useMay("admin", site);
  const error = kinds.error ?? sources.error;
  const refetch = () => Promise.all([kinds.refetch(), sources.refetch()]);
  if (error || !kinds.data || !sources.data) return <LoadState of={{ data: null, error, refetch }} rows={3} height={140} />;
  const own = sources.data.items;
  const all = kinds.data;
  const wanted = mayChange ? all.find(({ id }) => id === text("add")) : undefined;
  return (
    <>
      {own.length > 0 && (
        <Stack gap="sm" component="section">
          <Title order={2}>{sourcesText.yours}</Title>
          <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="md">
            {own.map((source) => (
              <SourceCard key={source.id} site={site} source={source} kind={all.find(({ id }) => id === source.kind)} />
            ))}
          </SimpleGrid>
        </Stack>
      )}
      <KindList kinds={all} isFirst={own.length === 0} {...(mayChange ? { onChoose: (kind) => change({ add: kind.id }) } : {})} />
      <AddSource
        site={site}
        kind={wanted ?? null}
        onClose={() => change({ add: undefined })}
        onAdded={(id) => void navigate({ to: `/sites/${site}/sources/${id}` })}
      />
    </>
  );
}

function SourceCard({ site, source, kind }: { site: string; source: Source; kind: Kind | undefined }) {
  const name = kind?.name ?? source.kind;
  const errors = errorsOf(source);
  return (
    <Box component="article" className="cc-card cc-row" p="md" pos="relative">
      <Stack gap="sm" h="100%">
        <Group wrap="nowrap" align="flex-start" gap="sm">
          <PlatformMark id={source.kind} size={36} />
          <Box style={{ flex: 1, minWidth: 0 }}>
            <Title order={3} style={{ overflowWrap: "anywhere" }}>
              <Link to={`/sites/${site}/sources/${source.id}`} className="cc-plain cc-stretch">
                {source.name}
              </Link>
            </Title>
            <Text size="sm" c="dimmed" mt={2}>
              {source.name === name ? (kind?.about ?? "") : name}
            </Text>
          </Box>
        </Group>
        <Stack gap="xs" mt="auto">
          <Divider color="var(--cc-line)" />
          <Group justify="space-between" gap="xs">
            <SourceState source={source} />
            <Text size="xs" c="dimmed">
              {sourcesText.card.day}
            </Text>
          </Group>
          <SimpleGrid cols={3} spacing="xs">
            <Fact label={sourcesText.card.lastRequest}>
              <Time at={source.lastRequestAt} />
            </Fact>
            <Fact label={sourcesText.card.conversions}>{countText(source.last24h.accepted ?? 0)}</Fact>
            <Fact label={sourcesText.card.errors}>
              <span style={errors > 0 ? { color: "var(--cc-bad)" } : undefined}>{countText(errors)}</span>
            </Fact>
          </SimpleGrid>
        </Stack>
      </Stack>
    </Box>
  );
}

/** All words must be in the name, the description or the group. */
function findKinds(kinds: readonly Kind[], text: string): readonly Kind[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return kinds.filter(({ name, about, category }) => {
    const searched = `${name} ${about} ${sourcesText.categories[category]}`.toLowerCase();
    return words.every((word) => searched.includes(word));
  });
}

function KindList({ kinds, isFirst, onChoose }: { kinds: readonly Kind[]; isFirst: boolean; onChoose?: (kind: Kind) => void }) {
  const [text, setText] = useState("");
  const found = findKinds(kinds, text);
  const custom = kinds.find(({ id }) => id === "custom");
  return (
    <Stack gap="md" component="section">
      <Group justify="space-between" gap="sm">
        <Title order={2}>{isFirst ? sourcesText.addFirst : sourcesText.add}</Title>
        <TextInput
          aria-label={sourcesText.search}
          placeholder={sourcesText.searchHint}
          leftSection={<Search size={15} aria-hidden />}
          w={{ base: "100%", xs: 260 }}
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
          maxLength={100}
        />
      </Group>
      {!onChoose && (
        <Text size="sm" c="dimmed">
          {commonText.adminsOnly}
        </Text>
      )}
      {sourceCategories.map((category) => {
        const ofCategory = found.filter((one) => one.category === category);
        if (ofCategory.length === 0) return null;
        return (
          <Stack key={category} gap="xs">
            <Title order={3} c="dimmed" fw={500}>
              {sourcesText.categories[category]}
            </Title>
            <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }} spacing="sm">
              {ofCategory.map((kind) => (
                <KindCard key={kind.id} kind={kind} {...(onChoose ? { onChoose: () => onChoose(kind) } : {})} />
              ))}
            </SimpleGrid>
          </Stack>
        );
      })}
      {found.length === 0 && (
        <Empty
          icon={SearchX}
          title={sourcesText.nothingFound}
          action={custom && onChoose && <Button onClick={() => onChoose(custom)}>{sourcesText.customInstead}</Button>}
        >
          {sourcesText.aboutNothingFound}
        </Empty>
      )}
    </Stack>
  );
}

function KindCard({ kind, onChoose }: { kind: Kind; onChoose?: () => void }) {
  return (
    <Box className={`cc-card${onChoose ? " cc-row" : ""}`} h="100%" px="md" py="sm" pos="relative">
      <Group wrap="nowrap" align="flex-start" gap="sm">
        <PlatformMark id={kind.id} size={36} />
        <Box style={{ flex: 1, minWidth: 0 }}>
          {onChoose ? (
            <UnstyledButton className="cc-stretch" fw={600} aria-label={sourcesText.addOne(kind.name)} onClick={onChoose}>
              {kind.name}
            </UnstyledButton>
          ) : (
            <Text fw={600}>{kind.name}</Text>
          )}
          <Text size="sm" c="dimmed" mt={2}>
            {kind.about}
          </Text>
        </Box>
        {onChoose && <Plus size={16} aria-hidden className="cc-quiet" style={{ flex: "none" }} />}
      </Group>
    </Box>
  );
}
