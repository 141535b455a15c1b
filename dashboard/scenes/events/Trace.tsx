// The trace of one event, in a drawer over the list.

import { Button, Group, Text } from "@mantine/core";
import { Link, useCanGoBack, useLocation, useNavigate, useRouter } from "@tanstack/react-router";
import { SearchX } from "lucide-react";
import { useDeferredValue } from "react";
import { SidePanel } from "../../common/SidePanel.tsx";
import { useApi } from "../../common/api/query.ts";
import { useMay, useSiteId, usePathParameter } from "../../common/api/session.ts";
import { TextLink } from "../../common/links.tsx";
import { WhatIfButton } from "../../common/settings/WhatIf.tsx";
import { searchOfMode, useQueryParams } from "../../common/lists/queryParams.ts";
import { Empty, LoadState } from "../../common/states.tsx";
import { Money, TestBadge } from "../../common/values.tsx";
import { pollInterval, TraceSteps } from "./TraceSteps.tsx";
import { Why } from "./Why.tsx";
import { EventStatus } from "./eventCells.tsx";
import { eventsText } from "../../messages/events.ts";
import { RichText } from "../../common/format/RichText.tsx";

export default function Trace() {
  const site = useSiteId();
  const event = usePathParameter("event");
  const close = useClose();
  const mayChange = useMay("admin", site);
  const { data, error, refetch } = useApi(
    "GET /sites/:site/events/:event",
    { params: { site, event } },
    { everyMs: pollInterval },
  );
  // The drawer opens at once, also where the trace is known already.
  const trace = useDeferredValue(data, undefined);
  const title = data ? (
    <Group gap="sm" component="span">
      <span style={{ overflowWrap: "anywhere" }}>{data.event}</span>
      {data.value !== null && <Money value={data.value} currency={data.currency} />}
      {data.mode === "test" && <TestBadge />}
    </Group>
  ) : (
    eventsText.columns.event
  );
  return (
    <SidePanel title={title} onClose={close} size={720}>
      {error?.status === 404 ? (
        <EventNotFound site={site} event={event} />
      ) : trace && !error ? (
        <>
          <Group gap="md" mb="lg">
            <EventStatus event={trace} />
            {trace.orderId && (
              <TextLink to={`/sites/${site}/events`} search={{ search: trace.orderId, ...searchOfMode(trace.mode) }}>
                {eventsText.trace.ofOrder}
              </TextLink>
            )}
            <TextLink to={`/sites/${site}/events`} search={{ search: trace.emailSha256, ...searchOfMode(trace.mode) }}>
              {eventsText.trace.ofPerson}
            </TextLink>
            {mayChange && <WhatIfButton site={site} event={event} />}
          </Group>
          <Why trace={trace} site={site} />
          <TraceSteps trace={trace} site={site} />
        </>
      ) : (
        <LoadState of={{ data: trace, error, refetch }} rows={6} height={56} />
      )}
    </SidePanel>
  );
}

/** Goes back to where the trace was opened, or to the list for a link from outside. */
function useClose() {
  const router = useRouter();
  const navigate = useNavigate();
  const canGoBack = useCanGoBack();
  const { pathname } = useLocation();
  const { search } = useQueryParams();
  const list = pathname.replace(/\/[^/]+$/, "");
  return () => {
    if (canGoBack) router.history.back();
    else void navigate({ to: list, search, resetScroll: false });
  };
}

function EventNotFound({ site, event }: { site: string; event: string }) {
  return (
    <Empty
      icon={SearchX}
      title={eventsText.trace.notFound}
      action={
        <Button component={Link} to={`/sites/${site}/events`} variant="default">
          {eventsText.showAll}
        </Button>
      }
    >
      <Text component="span" size="sm">
        <RichText
          text={eventsText.trace.aboutNotFound}
          tags={{
            id: () => (
              <span className="cc-mono" style={{ overflowWrap: "anywhere" }}>
                {event}
              </span>
            ),
          }}
        />
      </Text>
    </Empty>
  );
}
