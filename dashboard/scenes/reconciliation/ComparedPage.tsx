// A compared period: its choice, the state of the comparison, and its report. Its orders and its funnel are two views of it.

import { Alert, Button, Group, NativeSelect, Progress, Stack, Text, TextInput } from "@mantine/core";
import { Form } from "../../common/Form.tsx";
import { GitCompareArrows, Info } from "lucide-react";
import { useState, type ReactNode } from "react";
import { defaultReconciledDays, defaultReconciledEvent, defaultSettleHours } from "../../../src/kernel/reconciliation.ts";
import { Card, Page } from "../../common/Page.tsx";
import { usePlatformName } from "../../common/api/platforms.ts";
import { useApi, useSend } from "../../common/api/query.ts";
import { useMay, useSite, useSiteId } from "../../common/api/session.ts";
import { countText } from "../../common/format/numbers.ts";
import { dayText } from "../../common/format/times.ts";
import { useQueryParams } from "../../common/lists/queryParams.ts";
import { notify } from "../../common/notices.tsx";
import { Empty, LoadState, RequestError } from "../../common/states.tsx";
import { reconciliationText } from "../../messages/reconciliation.ts";
import { commonText } from "../../messages/common.ts";
import type { OrderList } from "./Orders.tsx";
import { connectionName, type ConnectionReport, type Report, type RunLine } from "./report.ts";

export type Shown = { site: string; report: Report; nameOf: (of: ConnectionReport) => string };

/** `list` shows the list of orders, above which nothing stands until it has one. */
export function ComparedPage({
  tab,
  about,
  report,
  list,
  actions,
}: {
  tab: "orders" | "funnel";
  about: string;
  /** What admins can do with a report. */
  actions?: (site: string) => ReactNode;
  report: (shown: Shown) => ReactNode;
  list: (of: { site: string; list: OrderList; mayChange: boolean }) => ReactNode;
}) {
  const site = useSiteId();
  const mayChange = useMay("admin", site);
  const { text, change } = useQueryParams();
  const orders = useApi("GET /sites/:site/orders", { params: { site } }, { everyMs: 15_000 });
  const runs = useApi(
    "GET /sites/:site/reconciliations",
    { params: { site } },
    { everyMs: (answer) => (answer?.items[0]?.state === "running" ? 2000 : 15_000) },
  );
  const error = orders.error ?? runs.error;
  const shown = runs.data?.items.find(({ id }) => id === text("run")) ?? runs.data?.items[0];
  const search = text("run") ? { run: text("run") } : {};
  const tabs = [
    { value: "orders", label: reconciliationText.orders, to: `/sites/${site}/reconciliation`, search },
    { value: "funnel", label: reconciliationText.funnel.label, to: `/sites/${site}/reconciliation/funnel`, search },
  ];
  return (
    <Page
      title={reconciliationText.title}
      about={about}
      tabs={tabs}
      tab={tab}
      {...(actions && mayChange && shown ? { actions: actions(site) } : {})}
    >
      <LoadState of={{ data: orders.data && runs.data, error, refetch: () => Promise.all([orders.refetch(), runs.refetch()]) }} />
      {runs.data && orders.data && (
        <>
          {orders.data.orders > 0 && (
            <Period site={site} runs={runs.data.items} shown={shown} mayChange={mayChange} onPick={(run) => change({ run })} />
          )}
          {shown && <RunReport site={site} run={shown} mayChange={mayChange} report={report} />}
          {list({ site, list: orders.data, mayChange })}
        </>
      )}
    </Page>
  );
}

function Period({
  site,
  runs,
  shown,
  mayChange,
  onPick,
}: {
  site: string;
  runs: readonly RunLine[];
  shown: RunLine | undefined;
  mayChange: boolean;
  onPick: (run: string) => void;
}) {
  const zone = useSite()?.timeZone;
  const [from, setFrom] = useState("");
  const [to, setTo] = useState("");
  const start = useSend("POST /sites/:site/reconciliations", {
    onDone: ({ reconciliation }) => {
      onPick(reconciliation.id);
      notify(reconciliationText.period.started);
    },
  });
  const texts = reconciliationText.period;
  const days = (run: RunLine) => commonText.time.period(dayText(run.from, zone), dayText(run.to - 1, zone));
  const labelOf = (run: RunLine) =>
    [
      days(run),
      ...(run.event === defaultReconciledEvent ? [] : [run.event]),
      run.state === "done" ? texts.compared(dayText(run.startedAt, zone)) : texts.states[run.state],
    ].join(" · ");
  return (
    <Card>
      <Group justify="space-between" align="flex-end" gap="md">
        {shown ? (
          <NativeSelect
            label={texts.label}
            value={shown.id}
            onChange={({ currentTarget }) => onPick(currentTarget.value)}
            data={runs.map((run) => ({ value: run.id, label: labelOf(run) }))}
            style={{ flex: "0 1 320px" }}
          />
        ) : (
          <Text size="sm" style={{ flex: "1 1 240px" }}>
            {texts.none}
          </Text>
        )}
        {mayChange && (
          <Form onSubmit={() => start.mutate({ params: { site }, body: { ...(from && { from }), ...(to && { to }) } })}>
            <Group gap="sm" align="flex-end">
              <TextInput
                type="date"
                label={texts.from}
                value={from}
                onChange={({ currentTarget }) => setFrom(currentTarget.value)}
              />
              <TextInput type="date" label={texts.to} value={to} onChange={({ currentTarget }) => setTo(currentTarget.value)} />
              <Button type="submit" loading={start.isPending} disabled={runs[0]?.state === "running"}>
                {texts.compare}
              </Button>
            </Group>
          </Form>
        )}
      </Group>
      <RequestError error={start.error} />
      {mayChange && (
        <Text size="xs" c="dimmed" mt="sm">
          {texts.defaults(countText(defaultReconciledDays), countText(defaultSettleHours))}
        </Text>
      )}
    </Card>
  );
}

function RunReport({
  site,
  run,
  mayChange,
  report: showReport,
}: {
  site: string;
  run: RunLine;
  mayChange: boolean;
  report: (shown: Shown) => ReactNode;
}) {
  const { data, error, refetch } = useApi(
    "GET /sites/:site/reconciliations/:run",
    { params: { site, run: run.id } },
    // By its own state: the list of runs may know of the end before this report does.
    { everyMs: (answer) => (answer?.reconciliation.state === "running" ? 2000 : 60_000) },
  );
  const platformName = usePlatformName();
  if (error || !data) return <LoadState of={{ data, error, refetch }} />;
  const report = data.reconciliation;
  const nameOf = (of: ConnectionReport) => connectionName(report.connections, of, platformName);
  return (
    <Stack gap="lg">
      {report.state === "running" && <Running site={site} report={report} mayChange={mayChange} />}
      {report.state === "cancelled" && (
        <Alert variant="light" color="gray" icon={<Info size={18} />}>
          {reconciliationText.run.cancelled}
        </Alert>
      )}
      {report.orders === 0 && report.state !== "running" ? (
        <Card>
          <Empty icon={GitCompareArrows} title={reconciliationText.run.emptyTitle}>
            {reconciliationText.run.empty}
          </Empty>
        </Card>
      ) : (
        showReport({ site, report, nameOf })
      )}
    </Stack>
  );
}

function Running({ site, report, mayChange }: { site: string; report: Report; mayChange: boolean }) {
  const cancel = useSend("POST /sites/:site/reconciliations/:run/cancel");
  return (
    <Card>
      <Group gap="md" wrap="nowrap">
        <Stack gap={4} style={{ flex: 1 }}>
          <Text size="sm">{reconciliationText.run.progress(report.orders)}</Text>
          <Progress value={100} animated aria-label={reconciliationText.run.running} />
        </Stack>
        {mayChange && (
          <Button
            variant="default"
            size="xs"
            loading={cancel.isPending}
            onClick={() => cancel.mutate({ params: { site, run: report.id } })}
          >
            {commonText.cancel}
          </Button>
        )}
      </Group>
      <RequestError error={cancel.error} />
    </Card>
  );
}
