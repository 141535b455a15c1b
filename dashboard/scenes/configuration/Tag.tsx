// The HTML that installs the tag, and whether the tag was seen.

import { Group, List, SimpleGrid, Stack, Text } from "@mantine/core";
import { hourMs } from "../../../src/kernel/time.ts";
import { Card } from "../../common/Page.tsx";
import type { Answer } from "../../common/api/api.ts";
import { useApi } from "../../common/api/query.ts";
import { useSiteId } from "../../common/api/session.ts";
import { countText, decimalText } from "../../common/format/numbers.ts";
import { DocsLink } from "../../common/links.tsx";
import { SettingsCard, SiteSettings } from "../../common/settings/SettingsCard.tsx";
import { ListField } from "../../common/settings/listFields.tsx";
import { LoadState } from "../../common/states.tsx";
import { Code, State, Time } from "../../common/values.tsx";
import { ConfigurationPage } from "../frame/SectionPage.tsx";
import { RichText } from "../../common/format/RichText.tsx";
import { configurationText } from "../../messages/configuration.ts";

type Seen = { hour: number | null } & Pick<Answer<"GET /sites/:site/tag">, "seen">;

export default function Tag() {
  const site = useSiteId();
  const { data, error, refetch } = useApi("GET /sites/:site/tag", { params: { site } }, { everyMs: 30_000 });
  // Counts are written a moment after a visit.
  const isSeen = data !== undefined && (data.visits24h > 0 || (data.seen?.pages ?? 0) > 0);
  return (
    <ConfigurationPage tab="tag">
      <LoadState of={{ data, error, refetch }} />
      {data && (
        <>
          <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="lg" aria-live="polite">
            <Fact label={configurationText.tag.seen}>
              <State
                of={isSeen ? "active" : "not connected"}
                word={
                  isSeen
                    ? configurationText.tag.yes
                    : data.lastHourWithVisits
                      ? configurationText.tag.notIn24Hours
                      : configurationText.tag.notYet
                }
              />
            </Fact>
            <Fact label={configurationText.tag.visits}>{countText(data.visits24h)}</Fact>
            <Fact label={configurationText.tag.lastSeen}>
              <LastSeen hour={data.lastHourWithVisits} seen={data.seen} />
            </Fact>
          </SimpleGrid>
          <Card title={configurationText.tag.title} about={configurationText.tag.about}>
            <Stack gap="sm">
              <Code label={configurationText.tag.tag}>{data.follows}</Code>
              <Text size="sm" c="dimmed">
                {configurationText.tag.install(decimalText(data.gzipBytes / 1024))}
              </Text>
            </Stack>
          </Card>
          <Card title={configurationText.tag.pinned} about={configurationText.tag.aboutPinned}>
            <Code label={configurationText.tag.pinnedTag}>{data.pinned}</Code>
          </Card>
          <Card title={configurationText.tag.identify} about={configurationText.tag.aboutIdentify}>
            <Stack gap="sm">
              <Code label={configurationText.tag.example}>
                {`await cc.identifyEmail("ada@example.com"); // ${configurationText.tag.exampleHashed}\ncc.consent("denied"); // ${configurationText.tag.exampleConsent}`}
              </Code>
              <List size="sm" c="dimmed">
                <List.Item>{configurationText.tag.hashed}</List.Item>
                <List.Item>
                  <DocsLink page="how-to/tag">{configurationText.tag.more}</DocsLink>
                </List.Item>
              </List>
            </Stack>
          </Card>
          <SiteSettings>
            <SettingsCard
              title={configurationText.tag.links}
              about={configurationText.tag.aboutLinks}
              fields={(form) => (
                <>
                  <ListField
                    form={form}
                    name="link_domains"
                    placeholder="checkout.example.com"
                    help={configurationText.tag.linkDomains}
                  />
                  <Text size="sm">
                    <DocsLink page="how-to/links-between-domains">{configurationText.tag.aboutLinkPage}</DocsLink>
                  </Text>
                </>
              )}
            />
          </SiteSettings>
        </>
      )}
    </ConfigurationPage>
  );
}

/** Visits are counted by the hour. The newest ones are known exactly, with their pages. */
function LastSeen({ hour, seen }: Seen) {
  if (seen) return <RichText text={configurationText.tag.seenOn(seen.pages)} tags={{ time: () => <Time at={seen.at} /> }} />;
  if (hour !== null && Date.now() - hour < hourMs) return configurationText.tag.lastHour;
  return <Time at={hour} />;
}

function Fact({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <div className="cc-card">
      <Stack gap={4} p="md">
        <Text size="sm" c="dimmed">
          {label}
        </Text>
        <Group gap={4} align="baseline" fz={20} fw={600} className="cc-number" mih={28}>
          {children}
        </Group>
      </Stack>
    </div>
  );
}
