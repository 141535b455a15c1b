// Webhooks: customer URLs that receive the totals every few minutes.

import { Anchor, Button, Group, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Plus, Webhook as WebhookIcon } from "lucide-react";
import { useState } from "react";
import { Card, Page } from "../../../common/Page.tsx";
import type { Answer } from "../../../common/api/api.ts";
import { useApi } from "../../../common/api/query.ts";
import { useMay, useSiteId } from "../../../common/api/session.ts";
import { OneTimeSecret } from "../../../common/dialogs.tsx";
import { countText, counted } from "../../../common/format/format.ts";
import { DocsLink } from "../../../common/links.tsx";
import { Rows, type Column } from "../../../common/lists/Rows.tsx";
import { useQueryParams } from "../../../common/lists/queryParams.ts";
import { Empty } from "../../../common/states.tsx";
import { Code, Time } from "../../../common/values.tsx";
import { tabsOf } from "../connections.tsx";
import { AddWebhook } from "./AddWebhook.tsx";
import { WebhookPanel, WebhookState, type Webhook } from "./WebhookPanel.tsx";

type Period = Answer<"GET /sites/:site/webhooks">["period"];

function periodText({ seconds }: Period): string {
  return seconds % 60 === 0 ? counted(seconds / 60, "minute") : counted(seconds, "second");
}

export default function Webhooks() {
  const site = useSiteId();
  return (
    <Page
      title="Integrations"
      about="A webhook sends your server the number of conversions and of removed bot visits and events."
      tabs={tabsOf(site)}
      tab="webhooks"
    >
      <WebhookList site={site} />
    </Page>
  );
}

function WebhookList({ site }: { site: string }) {
  const { text, change } = useQueryParams();
  const mayChange = useMay("admin", site);
  const { data, error, refetch } = useApi(
    "GET /sites/:site/webhooks",
    { params: { site } },
    { everyMs: 15_000 },
  );
  const [isAdding, setIsAdding] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const chosen = data?.items.find(({ id }) => id === text("webhook"));
  const add = (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setIsAdding(true)}>
      Add webhook
    </Button>
  );
  return (
    <>
      <Card
        padded={false}
        title="Webhooks"
        {...(mayChange && data?.items.length ? { actions: add } : {})}
        about={data && data.items.length > 0 && <CurrentPeriod period={data.period} />}
      >
        <Rows
          label="Webhooks"
          columns={columnsOf(site)}
          rows={data?.items}
          keyOf={({ id }) => id}
          error={error}
          onRetry={() => void refetch()}
          to={({ id }) => ({ to: `/sites/${site}/integrations/webhooks`, search: { webhook: id } })}
          empty={
            <Empty icon={WebhookIcon} title="No webhooks yet" action={mayChange ? add : undefined}>
              Add the URL of your server to receive the totals
              {data ? ` every ${periodText(data.period)}` : ""}.
            </Empty>
          }
        />
      </Card>
      {data && <Payload period={data.period} />}
      {isAdding && (
        <AddWebhook
          site={site}
          onClose={() => setIsAdding(false)}
          onAdded={(shown) => {
            setIsAdding(false);
            setSecret(shown);
          }}
        />
      )}
      <OneTimeSecret title="The webhook's secret" secret={secret} onClose={() => setSecret(null)}>
        <Text size="sm">
          Every push carries it as <code>Authorization: Bearer</code> and is signed with it. Your receiver
          checks both; see <DocsLink page="reference/outbound-webhook">Outbound webhook</DocsLink>, with
          examples for Node, Python and PHP.
        </Text>
      </OneTimeSecret>
      {chosen && (
        <WebhookPanel
          site={site}
          webhook={chosen}
          mayChange={mayChange}
          onSecret={setSecret}
          onClose={() => change({ webhook: undefined })}
        />
      )}
    </>
  );
}

function CurrentPeriod({ period }: { period: Period }) {
  return (
    <>
      {period.startsAt !== null && (
        <>
          The current period began <Time at={period.startsAt} /> and{" "}
        </>
      )}
      {period.startsAt === null && "The current period "}ends <Time at={period.endsAt} />
    </>
  );
}

function columnsOf(site: string): Column<Webhook>[] {
  return [
    {
      title: "URL",
      cell: ({ id, url }) => (
        <Anchor
          component={Link}
          to={`/sites/${site}/integrations/webhooks`}
          search={{ webhook: id } as never}
          fw={500}
          size="sm"
          c="inherit"
          style={{ overflowWrap: "anywhere" }}
        >
          {url}
        </Anchor>
      ),
    },
    { title: "State", cell: (webhook) => <WebhookState webhook={webhook} /> },
    { title: "Next push", wide: true, cell: ({ nextPushAt }) => <Time at={nextPushAt} none="–" /> },
    {
      title: "Periods waiting",
      align: "right",
      wide: true,
      cell: ({ waiting }) => countText(waiting),
    },
    { title: "Last push", wide: true, cell: ({ lastPushAt }) => <Time at={lastPushAt} /> },
  ];
}

function Payload({ period }: { period: Period }) {
  return (
    <Card title="Payload" about={`A POST every ${periodText(period)}, with the totals since the last one.`}>
      <Group align="flex-start" gap="lg">
        <Stack gap="xs" style={{ flex: "1 1 320px", minWidth: 0 }}>
          <Code label="Example of a push">
            {`POST /your/path\nAuthorization: Bearer whsec_…\nContent-Type: application/json\n\n{"conversions":12,"bot_traffic_removed":34}`}
          </Code>
        </Stack>
        <Stack gap="sm" style={{ flex: "1 1 320px" }}>
          <Stack gap="sm" component="dl" m={0}>
            <Term name="conversions">
              Accepted events, without duplicates, filtered events and events of test keys.
            </Term>
            <Term name="bot_traffic_removed">Bot visits and events filtered as bots.</Term>
          </Stack>
          <Text size="sm" c="dimmed">
            Each conversion is in exactly one push. A failed push is repeated with the same id until it is
            delivered. <DocsLink page="reference/outbound-webhook">How to verify a push</DocsLink>
          </Text>
        </Stack>
      </Group>
    </Card>
  );
}

function Term({ name, children }: { name: string; children: string }) {
  return (
    <div>
      <Text component="dt" className="cc-mono">
        {name}
      </Text>
      <Text component="dd" size="sm" c="dimmed" m={0}>
        {children}
      </Text>
    </div>
  );
}
