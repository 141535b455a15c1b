// Webhooks: addresses of yours that receive the totals every few minutes.

import { Anchor, Button, Group, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Plus, Webhook as WebhookIcon } from "lucide-react";
import { useState } from "react";
import { useAddress } from "../../common/address.ts";
import { SecretOnce } from "../../common/dialogs.tsx";
import { countText } from "../../common/format.ts";
import { Card, Page } from "../../common/Page.tsx";
import { useApi } from "../../common/query.ts";
import { Rows, type Column } from "../../common/Rows.tsx";
import { useMay, useSiteId } from "../../common/session.tsx";
import { Empty } from "../../common/states.tsx";
import { Code, When } from "../../common/values.tsx";
import { AddWebhook } from "./AddWebhook.tsx";
import { tabsOf } from "./parts.tsx";
import { periodText, WebhookState, type Period, type Webhook } from "./webhook.tsx";
import { WebhookPanel } from "./WebhookPanel.tsx";

export default function Webhooks() {
  const site = useSiteId();
  return (
    <Page
      title="Integrations"
      about="A webhook tells an address of yours how many conversions came and how much bot traffic was removed."
      tabs={tabsOf(site)}
      tab="webhooks"
    >
      <WebhookList site={site} />
    </Page>
  );
}

function WebhookList({ site }: { site: string }) {
  const { text, change } = useAddress();
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
        about={data && data.items.length > 0 && <Running period={data.period} />}
      >
        <Rows
          label="Webhooks"
          columns={columnsOf(site)}
          rows={data?.items}
          keyOf={({ id }) => id}
          error={error}
          again={() => void refetch()}
          to={({ id }) => ({ to: `/sites/${site}/integrations/webhooks`, search: { webhook: id } })}
          empty={
            <Empty icon={WebhookIcon} title="No webhook yet" action={mayChange ? add : undefined}>
              Add the address of a server of yours, and it receives the totals
              {data ? ` every ${periodText(data.period)}` : ""}.
            </Empty>
          }
        />
      </Card>
      {data && <WhatIsSent period={data.period} />}
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
      <SecretOnce title="The webhook's secret" secret={secret} onClose={() => setSecret(null)}>
        <Text size="sm">
          Every push carries it as <code>Authorization: Bearer</code>, and is signed with it. Your receiver
          compares both: docs/reference/outbound-webhook.md in the repository says how, with receivers for
          Node, Python and PHP.
        </Text>
      </SecretOnce>
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

function Running({ period }: { period: Period }) {
  return (
    <>
      {period.startsAt !== null && (
        <>
          The running period began <When at={period.startsAt} /> and{" "}
        </>
      )}
      {period.startsAt === null && "The running period "}closes <When at={period.endsAt} />
    </>
  );
}

function columnsOf(site: string): Column<Webhook>[] {
  return [
    {
      title: "Address",
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
    { title: "Next push", wide: true, cell: ({ nextPushAt }) => <When at={nextPushAt} none="–" /> },
    {
      title: "Periods waiting",
      align: "right",
      wide: true,
      cell: ({ waiting }) => countText(waiting),
    },
    { title: "Last push", wide: true, cell: ({ lastPushAt }) => <When at={lastPushAt} /> },
  ];
}

function WhatIsSent({ period }: { period: Period }) {
  return (
    <Card
      title="What is sent"
      about={`A POST every ${periodText(period)}, with what happened since the last one.`}
    >
      <Group align="flex-start" gap="lg">
        <Stack gap="xs" style={{ flex: "1 1 320px", minWidth: 0 }}>
          <Code label="Example of a push">
            {`POST /your/path\nAuthorization: Bearer whsec_…\nContent-Type: application/json\n\n{"conversions":12,"bot_traffic_removed":34}`}
          </Code>
        </Stack>
        <Stack gap="sm" style={{ flex: "1 1 320px" }}>
          <Stack gap="sm" component="dl" m={0}>
            <Term name="conversions">
              Events that were accepted: neither duplicates, nor filtered, nor sent with a test key.
            </Term>
            <Term name="bot_traffic_removed">Bot visits, and events filtered as bots'.</Term>
          </Stack>
          <Text size="sm" c="dimmed">
            Every conversion is in exactly one push. One that fails comes again under the same id until it is
            delivered. docs/reference/outbound-webhook.md in the repository shows how a receiver checks that a
            push is ours.
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
