// The orders behind a number of a reconciliation.

import { Anchor, Group, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { ListX } from "lucide-react";
import { noReason, rowClasses } from "../../../src/kernel/reconciliation.ts";
import { Card, Page } from "../../common/Page.tsx";
import { urlOf, type Answer } from "../../common/api/api.ts";
import { usePlatformName } from "../../common/api/platforms.ts";
import { useApi, useRows } from "../../common/api/query.ts";
import { useMay, useSiteId } from "../../common/api/session.ts";
import { moneyText } from "../../common/format/numbers.ts";
import { filterReasonText } from "../../common/format/reasons.ts";
import { CsvButton } from "../../common/lists/CsvButton.tsx";
import { Rows, type Column } from "../../common/lists/Rows.tsx";
import { useQueryParams } from "../../common/lists/queryParams.ts";
import { PlatformMark, PlatformName } from "../../common/platforms/PlatformMark.tsx";
import { Empty } from "../../common/states.tsx";
import { Money, State, Time } from "../../common/values.tsx";
import { reconciliationText } from "../../messages/reconciliation.ts";
import { serverText } from "../../messages/server.ts";
import { Repair } from "./Repair.tsx";
import { connectionName, funnelPage, type RowClass } from "./report.ts";

type Correction = NonNullable<Row["outcomes"][number]["correction"]>;
type Row = Answer<"GET /sites/:site/reconciliations/:run/rows">["items"][number];

const filterNames = [
  "class",
  "filtered",
  "connection",
  "state",
  "reason",
  "attributed",
  "confirmation",
  "confirmationReason",
] as const;

export default function RunRows() {
  const site = useSiteId();
  const { text } = useQueryParams();
  const run = text("run");
  // The relay checks the values.
  const query = Object.fromEntries(filterNames.flatMap((name) => (text(name) ? [[name, text(name)]] : []))) as Record<
    string,
    never
  >;
  const params = { site, run };
  const { listed } = useRows("GET /sites/:site/reconciliations/:run/rows", { params, query }, { keepRows: true });
  const texts = reconciliationText.rows;
  const platformName = usePlatformName();
  const report = useApi("GET /sites/:site/reconciliations/:run", { params });
  const mayChange = useMay("admin", site);
  const counted = report.data?.reconciliation;
  const all = counted?.connections ?? [];
  const connection = all.find(({ connectionId }) => connectionId === text("connection"));
  const chosen = [
    connection ? connectionName(all, connection, platformName) : text("connection"),
    stateName(text("state")),
    text("reason") === noReason ? "" : serverText(text("reason")),
    text("confirmation") === "none" ? texts.cannotAsk : confirmationName(text("confirmation")),
    text("confirmationReason") === noReason ? "" : serverText(text("confirmationReason")),
    text("filtered") && texts.filtered(filterReasonText({ code: text("filtered"), detail: null })),
    { true: texts.withClickId, false: texts.withoutClickId }[text("attributed")] ?? "",
  ].filter(Boolean);
  const rowClass = rowClasses.find((name) => name === text("class"));
  return (
    <Page
      title={rowClass ? reconciliationText.classes[rowClass] : texts.title}
      mark={connection && <PlatformMark id={connection.platform} size={24} />}
      back={
        text("from") === "funnel"
          ? { ...funnelPage(site, run, text("connection")), label: reconciliationText.funnel.label }
          : { to: `/sites/${site}/reconciliation`, label: reconciliationText.title, search: { run } }
      }
      about={rowClass ? reconciliationText.aboutClasses[rowClass] : chosen.join(" · ")}
    >
      {rowClass && mayChange && (counted?.classes[rowClass] ?? 0) > 0 && (
        <Repair site={site} run={run} rowClass={rowClass} count={counted?.classes[rowClass] ?? 0} />
      )}
      <Card
        padded={false}
        actions={<CsvButton href={urlOf("GET /sites/:site/reconciliations/:run/rows.csv", { params, query })} of={texts.csv} />}
      >
        <Rows
          label={texts.title}
          columns={columnsOf(site, platformName).filter(({ title }) => !emptyColumns(rowClass).includes(title))}
          {...listed}
          keyOf={({ id }) => id}
          searchMore={texts.searchMore}
          empty={
            <Empty icon={ListX} title={texts.emptyTitle}>
              {texts.empty}
            </Empty>
          }
        />
      </Card>
    </Page>
  );
}

/** The columns that have nothing to say about orders of one class. */
function emptyColumns(rowClass: RowClass | undefined): readonly string[] {
  const { class: name, foundBy, listed, received, deliveries } = reconciliationText.rows;
  if (rowClass === undefined) return [];
  if (rowClass === "missing_here" || rowClass === "not_due") return [name, foundBy, received, deliveries];
  return rowClass === "extra_here" ? [name, foundBy, listed] : [name];
}

function columnsOf(site: string, platformName: (id: string) => string): Column<Row>[] {
  const texts = reconciliationText.rows;
  return [
    { title: texts.time, wide: true, cell: ({ time }) => <Time at={time} /> },
    {
      title: texts.order,
      cell: ({ orderId, eventId }) =>
        eventId === null ? (
          <span className="cc-mono">{orderId ?? "–"}</span>
        ) : (
          <Anchor component={Link} to={`/sites/${site}/events/${eventId}`} size="sm" className="cc-mono">
            {orderId ?? texts.event}
          </Anchor>
        ),
    },
    { title: texts.class, cell: (row) => reconciliationText.classes[row.class] },
    {
      title: texts.foundBy,
      wide: true,
      cell: ({ foundBy }) => (foundBy === null ? "–" : reconciliationText.foundBy[foundBy]),
    },
    {
      title: texts.listed,
      align: "right",
      cell: ({ orderValue, orderCurrency }) => <Money value={orderValue} currency={orderCurrency ?? "USD"} />,
    },
    {
      title: texts.received,
      align: "right",
      cell: ({ eventValue, eventCurrency }) => <Money value={eventValue} currency={eventCurrency ?? "USD"} />,
    },
    {
      title: texts.deliveries,
      wide: true,
      cell: ({ outcomes, filtered, eventCurrency }) => (
        <Group gap="sm">
          {filtered !== null && <State of="filtered" word={filterReasonText({ code: filtered, detail: null })} />}
          {outcomes.map(({ connectionId, platform, state, reason, confirmation, correction }) => (
            <Text key={connectionId} size="sm" component="span" title={reason === null ? undefined : serverText(reason)}>
              <PlatformName id={platform}>
                <State
                  of={state}
                  word={texts.outcome(
                    platformName(platform),
                    [stateText(state, confirmation), ...(correction ? [correctionText(correction, eventCurrency)] : [])].join(
                      ", ",
                    ),
                  )}
                />
              </PlatformName>
            </Text>
          ))}
        </Group>
      ),
    },
  ];
}

const stateText = (state: string, confirmation: Row["outcomes"][number]["confirmation"]) =>
  [stateName(state), ...(confirmation ? [confirmationName(confirmation.state)] : [])].join(", ");

const correctionText = ({ state, value }: Correction, currency: string | null) =>
  state === "corrected"
    ? reconciliationText.rows.correctedTo(moneyText(value, currency ?? "USD"))
    : reconciliationText.corrections[state];

const stateName = (state: string) => (reconciliationText.states as Readonly<Record<string, string>>)[state] ?? state;

const confirmationName = (state: string) =>
  (reconciliationText.confirmations as Readonly<Record<string, string>>)[state] ?? state;
