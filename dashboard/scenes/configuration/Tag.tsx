// The lines that install the tag, and whether it was seen.

import { Group, List, SimpleGrid, Stack, Text } from "@mantine/core";
import { countText } from "../../common/format.ts";
import { Card } from "../../common/Page.tsx";
import { useApi } from "../../common/query.ts";
import { useSiteId } from "../../common/session.tsx";
import { Fault, Loading } from "../../common/states.tsx";
import { Code, State, When } from "../../common/values.tsx";
import { ConfigurationPage } from "./ConfigurationPage.tsx";

export default function Tag() {
  const site = useSiteId();
  const { data, error, refetch } = useApi("GET /sites/:site/tag", { params: { site } }, { everyMs: 30_000 });
  return (
    <ConfigurationPage tab="tag">
      {error && <Fault error={error} again={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && (
        <>
          <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="lg" aria-live="polite">
            <Fact label="Seen">
              <State
                of={data.visits24h > 0 ? "active" : "not connected"}
                word={data.visits24h > 0 ? "yes" : data.lastHourWithVisits ? "not in 24 hours" : "not yet"}
              />
            </Fact>
            <Fact label="Visits in 24 hours">{countText(data.visits24h)}</Fact>
            <Fact label="Last seen">
              <LastSeen hour={data.lastHourWithVisits} />
            </Fact>
          </SimpleGrid>
          <Card
            title="Put the tag on every page"
            about="It remembers which ad a visitor came from, so that a conversion finds its click. Paste this line into <head>."
          >
            <Stack gap="sm">
              <Code label="tag">{data.follows}</Code>
              <Text size="sm" c="dimmed">
                A browser loads {(data.gzipBytes / 1024).toFixed(1)} KB. With Google Tag Manager: a Custom
                HTML tag on All Pages, with the full address in front of /__cc/tag.js. The path /__cc/ of your
                host must lead here: see Domains.
              </Text>
            </Stack>
          </Card>
          <Card
            title="The same line, pinned"
            about="The browser runs exactly this content and nothing else. Replace the line after an upgrade or a change of the consent mode."
          >
            <Code label="pinned tag">{data.pinned}</Code>
          </Card>
          <Card
            title="Tell it who somebody is"
            about="Emails that visitors hand in with a form are picked up automatically. Where there is no form, say it:"
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
                  Other ways to install it, and everything it does: docs/how-to/tag.md in the repository.
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
  if (hour !== null && Date.now() - hour < 3_600_000) return "in the last hour";
  return <When at={hour} />;
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
