// The first conversion of a site: sends one, and shows its way as it happens.

import "./firstConversion.css";
import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { ChevronRight, CircleAlert, CircleCheck, Inbox, KeyRound, Plug, Radio, Send, type LucideIcon } from "lucide-react";
import { useState } from "react";
import { Card, Page } from "../../common/Page.tsx";
import { useFeed } from "../../common/api/feed.ts";
import { usePlatformName } from "../../common/api/platforms.ts";
import { useApi } from "../../common/api/query.ts";
import { useMay, useSiteId } from "../../common/api/session.ts";
import { durationText } from "../../common/format/times.ts";
import { TextLink } from "../../common/links.tsx";
import { searchOfMode } from "../../common/lists/queryParams.ts";
import { Empty, LoadState } from "../../common/states.tsx";
import { CodeSamples } from "../configuration/inbound/CodeSamples.tsx";
import { useInboundAddress } from "../configuration/inbound/inboundSamples.ts";
import type { EventTrace } from "../events/ReceivedSteps.tsx";
import { pollInterval, TraceSteps } from "../events/TraceSteps.tsx";
import { tracePath } from "../events/eventCells.tsx";
import { useSendSample, useTestKey } from "./prepare.ts";
import { commonText } from "../../messages/common.ts";
import { sitesText } from "../../messages/sites.ts";

export default function FirstConversion() {
  const site = useSiteId();
  const [shown, setShown] = useState<string | null>(null);
  // Ids are ordered by time: of those that arrive while the page is open, the newest one is shown.
  const show = (id: string) => setShown((before) => (before !== null && before > id ? before : id));
  useFeed(site, ({ id }) => show(id));
  return (
    <Page title={sitesText.first.title} about={sitesText.first.about}>
      <div className="cc-first">
        <SendCard site={site} isFirst={shown === null} onSent={show} />
        <Card title={sitesText.first.way.title}>
          {shown === null ? (
            <Empty icon={Radio} title={sitesText.first.way.waiting}>
              {sitesText.first.way.aboutWaiting}
            </Empty>
          ) : (
            <Way key={shown} site={site} event={shown} />
          )}
        </Card>
        <NextCard site={site} />
      </div>
    </Page>
  );
}

function SendCard({ site, isFirst, onSent }: { site: string; isFirst: boolean; onSent: (id: string) => void }) {
  const mayChange = useMay("admin", site);
  const address = useInboundAddress();
  const test = useTestKey(site);
  const send = useSendSample();
  const text = sitesText.first.send;
  const sendOne = async () => {
    const key = await test.get();
    if (key !== undefined) send.mutate(key, { onSuccess: (id) => id && onSent(id) });
  };
  const error = send.error ?? test.error;
  if (!mayChange)
    return (
      <Card title={text.title} about={text.about}>
        <Text size="sm" c="dimmed">
          {commonText.adminsOnly}
        </Text>
      </Card>
    );
  return (
    <Card title={text.title} about={text.about}>
      <Stack gap="md">
        <Group gap="xs">
          <Button
            variant={isFirst ? "filled" : "default"}
            leftSection={<Send size={16} aria-hidden />}
            loading={test.isPending || send.isPending}
            onClick={() => void sendOne()}
          >
            {isFirst ? text.button : text.again}
          </Button>
          {test.key === undefined && (
            <Button variant="default" disabled={test.isPending} onClick={() => void test.get()}>
              {text.show}
            </Button>
          )}
        </Group>
        {error && (
          <Alert variant="light" color="red" icon={<CircleAlert size={18} />} role="alert">
            {error.message}
          </Alert>
        )}
        {test.key !== undefined && (
          <div>
            <Text size="sm" c="dimmed" mb="xs">
              {text.terminal}
            </Text>
            <CodeSamples address={address} keyText={test.key} />
          </div>
        )}
      </Stack>
    </Card>
  );
}

/** The steps appear one after the other. */
function Way({ site, event }: { site: string; event: string }) {
  const query = useApi("GET /sites/:site/events/:event", { params: { site, event } }, { everyMs: pollInterval });
  if (!query.data) return <LoadState of={query} rows={6} height={56} />;
  return (
    <div className="cc-way">
      <Group justify="space-between" mb="lg" gap="sm" role="status">
        <Outcome trace={query.data} />
        <TextLink to={tracePath(site, event)} search={searchOfMode(query.data.mode)} size="sm">
          {sitesText.first.way.trace}
        </TextLink>
      </Group>
      <TraceSteps trace={query.data} site={site} />
    </div>
  );
}

function Outcome({ trace }: { trace: EventTrace }) {
  const nameOf = usePlatformName();
  const sent = trace.deliveries.filter(({ state }) => state === "sent");
  const text = sitesText.first.way;
  if (sent.length === 0)
    return <Text size="sm">{trace.deliveries.some(({ state }) => state === "queued") ? text.underWay : text.notSent}</Text>;
  const names = sent.map(({ platform }) => nameOf(platform)).join(", ");
  const ended = Math.max(...sent.flatMap(({ log }) => log.map(({ startedAt, durationMs }) => startedAt + durationMs)));
  return (
    <Group gap={6} wrap="nowrap" style={{ color: "var(--cc-good)" }}>
      <CircleCheck size={18} aria-hidden style={{ flex: "none" }} />
      <Text size="sm" fw={500}>
        {text.accepted(names, durationText(Math.max(1, ended - trace.receivedAt)))}
      </Text>
    </Group>
  );
}

function NextCard({ site }: { site: string }) {
  const text = sitesText.first.next;
  return (
    <Card title={text.title} about={text.about}>
      <Stack gap="xs" component="ul" m={0} p={0} style={{ listStyle: "none" }}>
        <Next icon={Inbox} title={text.source} about={text.aboutSource} to={`/sites/${site}/sources`} />
        <Next icon={Plug} title={text.platform} about={text.aboutPlatform} to={`/sites/${site}/integrations`} />
        <Next icon={KeyRound} title={text.key} about={text.aboutKey} to={`/sites/${site}/configuration/keys`} />
      </Stack>
    </Card>
  );
}

function Next({ icon: Icon, title, about, to }: { icon: LucideIcon; title: string; about: string; to: string }) {
  return (
    <li>
      <Link to={to} className="cc-next">
        <Icon size={18} aria-hidden />
        <span>
          <Text span fw={600} size="sm" display="block">
            {title}
          </Text>
          <Text span size="sm" c="dimmed">
            {about}
          </Text>
        </span>
        <ChevronRight size={16} aria-hidden />
      </Link>
    </li>
  );
}
