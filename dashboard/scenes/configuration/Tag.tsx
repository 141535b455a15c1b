// The HTML that installs the tag, and whether the tag was seen.

import { Group, List, SimpleGrid, Stack, Text } from "@mantine/core";
import { hourMs } from "../../../src/kernel/time.ts";
import { Card } from "../../common/Page.tsx";
import { useApi } from "../../common/api/query.ts";
import { useSiteId } from "../../common/api/session.ts";
import { countText } from "../../common/format/format.ts";
import { DocsLink } from "../../common/links.tsx";
import { LoadError, Loading } from "../../common/states.tsx";
import { Code, State, Time } from "../../common/values.tsx";
import { ConfigurationPage } from "../frame/SectionPage.tsx";

export default function Tag() {
  const site = useSiteId();
  const { data, error, refetch } = useApi("GET /sites/:site/tag", { params: { site } }, { everyMs: 30_000 });
  return (
    <ConfigurationPage tab="tag">
      {error && <LoadError error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && (
        <>
          <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="lg" aria-live="polite">
            <Fact label="Tag seen">
              <State
                of={data.visits24h > 0 ? "active" : "not connected"}
                word={
                  data.visits24h > 0
                    ? "yes"
                    : data.lastHourWithVisits
                      ? "not in the last 24 hours"
                      : "not yet"
                }
              />
            </Fact>
            <Fact label="Visits in 24 hours">{countText(data.visits24h)}</Fact>
            <Fact label="Last seen">
              <LastSeen hour={data.lastHourWithVisits} />
            </Fact>
          </SimpleGrid>
          <Card
            title="Add the tag to every page"
            about="It remembers the ad click of a visitor, so that conversions can be matched to it. Paste this line into <head>."
          >
            <Stack gap="sm">
              <Code label="tag">{data.follows}</Code>
              <Text size="sm" c="dimmed">
                Size: {(data.gzipBytes / 1024).toFixed(1)} KB. In Google Tag Manager, use a Custom HTML tag on
                All Pages with the full URL of /__cc/tag.js. The path /__cc/ of your host must lead here: see
                Domains.
              </Text>
            </Stack>
          </Card>
          <Card
            title="Pinned version"
            about="The browser runs exactly this version and nothing else. Replace the line after an upgrade or a change of the consent mode."
          >
            <Code label="pinned tag">{data.pinned}</Code>
          </Card>
          <Card
            title="Identify visitors"
            about="Emails entered into a form are picked up automatically. Without a form, call:"
          >
            <Stack gap="sm">
              <Code label="example">
                {
                  'await cc.identifyEmail("ada@example.com"); // hashed in the browser\ncc.consent("denied"); // or "granted", from your consent banner'
                }
              </Code>
              <List size="sm" c="dimmed">
                <List.Item>The plain address never leaves the browser.</List.Item>
                <List.Item>
                  <DocsLink page="how-to/tag">Other ways to install the tag, and what it does</DocsLink>
                </List.Item>
              </List>
            </Stack>
          </Card>
        </>
      )}
    </ConfigurationPage>
  );
}

/** Visits are counted by the hour. */
function LastSeen({ hour }: { hour: number | null }) {
  if (hour !== null && Date.now() - hour < hourMs) return "in the last hour";
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
