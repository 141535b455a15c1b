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

import { countText } from "../../../common/format/numbers.ts";
import { DocsLink } from "../../../common/links.tsx";
import { Rows, type Column } from "../../../common/lists/Rows.tsx";
import { useQueryParams } from "../../../common/lists/queryParams.ts";
import { Empty } from "../../../common/states.tsx";
import { Code, Time } from "../../../common/values.tsx";
import { tabsOf } from "../connections.tsx";
import { AddWebhook } from "./AddWebhook.tsx";
import { WebhookPanel, WebhookState, type Webhook } from "./WebhookPanel.tsx";
import { webhooksText } from "../../../messages/webhooks.ts";
import { RichText } from "../../../common/format/RichText.tsx";
import { integrationsText } from "../../../messages/integrations.ts";

type Period = Answer<"GET /sites/:site/webhooks">["period"];

/** "every 10 minutes" */
const describeInterval = ({ seconds }: Period): string =>
  seconds % 60 === 0 ? webhooksText.minutes(seconds / 60) : webhooksText.seconds(seconds);

export default function Webhooks() {
  const site = useSiteId();
  return (
    <Page title={integrationsText.title} about={webhooksText.about} tabs={tabsOf(site)} tab="webhooks">
      <WebhookList site={site} />
    </Page>
  );
}

function WebhookList({ site }: { site: string }) {
  const { text, change } = useQueryParams();
  const mayChange = useMay("admin", site);
  const { data, error, refetch } = useApi("GET /sites/:site/webhooks", { params: { site } }, { everyMs: 15_000 });
  const [isAdding, setIsAdding] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const chosen = data?.items.find(({ id }) => id === text("webhook"));
  const add = (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setIsAdding(true)}>
      {webhooksText.add}
    </Button>
  );
  return (
    <>
      <Card
        padded={false}
        title={webhooksText.title}
        {...(mayChange && data?.items.length ? { actions: add } : {})}
        about={data && data.items.length > 0 && <CurrentPeriod period={data.period} />}
      >
        <Rows
          label={webhooksText.title}
          columns={columnsOf(site)}
          rows={data?.items}
          keyOf={({ id }) => id}
          error={error}
          onRetry={() => void refetch()}
          to={({ id }) => ({ to: `/sites/${site}/integrations/webhooks`, search: { webhook: id } })}
          empty={
            <Empty icon={WebhookIcon} title={webhooksText.emptyTitle} action={mayChange ? add : undefined}>
              {data ? webhooksText.empty(describeInterval(data.period)) : webhooksText.emptyLoading}
            </Empty>
          }
        />
      </Card>
      {data && <Payload period={data.period} />}
      <AddWebhook
        site={site}
        isOpen={isAdding}
        onClose={() => setIsAdding(false)}
        onAdded={(shown) => {
          setIsAdding(false);
          setSecret(shown);
        }}
      />
      <OneTimeSecret title={webhooksText.secret.title} secret={secret} onClose={() => setSecret(null)}>
        <Text size="sm">
          <RichText
            text={webhooksText.secret.about}
            tags={{
              code: (content) => <code>{content}</code>,
              link: (content) => <DocsLink page="reference/outbound-webhook">{content}</DocsLink>,
            }}
          />
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
    <RichText
      text={period.startsAt === null ? webhooksText.currentPeriodEnds : webhooksText.currentPeriod}
      tags={{ start: () => <Time at={period.startsAt} />, end: () => <Time at={period.endsAt} /> }}
    />
  );
}

function columnsOf(site: string): Column<Webhook>[] {
  return [
    {
      title: webhooksText.columns.url,
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
    { title: webhooksText.columns.state, cell: (webhook) => <WebhookState webhook={webhook} /> },
    {
      title: webhooksText.columns.nextPush,
      wide: true,
      cell: ({ nextPushAt }) => <Time at={nextPushAt} none="–" />,
    },
    {
      title: webhooksText.columns.waiting,
      align: "right",
      wide: true,
      cell: ({ waiting }) => countText(waiting),
    },
    { title: webhooksText.columns.lastPush, wide: true, cell: ({ lastPushAt }) => <Time at={lastPushAt} /> },
  ];
}

function Payload({ period }: { period: Period }) {
  return (
    <Card title={webhooksText.payload.title} about={webhooksText.payload.about(describeInterval(period))}>
      <Group align="flex-start" gap="lg">
        <Stack gap="xs" style={{ flex: "1 1 320px", minWidth: 0 }}>
          <Code label={webhooksText.payload.example}>
            {`POST /your/path\nAuthorization: Bearer whsec_…\nContent-Type: application/json\n\n{"conversions":12,"bot_traffic_removed":34}`}
          </Code>
        </Stack>
        <Stack gap="sm" style={{ flex: "1 1 320px" }}>
          <Stack gap="sm" component="dl" m={0}>
            <Term name="conversions">{webhooksText.payload.conversions}</Term>
            <Term name="bot_traffic_removed">{webhooksText.payload.removed}</Term>
          </Stack>
          <Text size="sm" c="dimmed">
            <RichText
              text={webhooksText.payload.delivery}
              tags={{ link: (content) => <DocsLink page="reference/outbound-webhook">{content}</DocsLink> }}
            />
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
