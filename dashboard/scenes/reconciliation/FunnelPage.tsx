// The funnel of a period: what became of the orders on their way to each platform, and where the others were lost.

import { Button, NativeSelect, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Filter } from "lucide-react";
import { Card } from "../../common/Page.tsx";
import { countText, moneyText, percentText } from "../../common/format/numbers.ts";
import { TextLink } from "../../common/links.tsx";
import { Rows, type Column } from "../../common/lists/Rows.tsx";
import { useQueryParams } from "../../common/lists/queryParams.ts";
import { Empty } from "../../common/states.tsx";
import { PlatformName } from "../../common/platforms/PlatformMark.tsx";
import { reconciliationText } from "../../messages/reconciliation.ts";
import { SharePage } from "../sharing/ShareButton.tsx";
import { ComparedPage, type Shown } from "./ComparedPage.tsx";
import { Funnel, LossLink } from "./Funnel.tsx";
import { findLargestLoss, funnelPage, leavesOut, lossText, ownSteps, type ConnectionReport } from "./report.ts";

export default function FunnelPage() {
  const texts = reconciliationText.funnel;
  return (
    <ComparedPage
      tab="funnel"
      about={texts.about}
      report={(shown) => <Funnels {...shown} />}
      actions={(site) => <SharePage site={site} />}
      list={({ site, list, mayChange }) =>
        list.orders === 0 && (
          <Card>
            <Empty
              icon={Filter}
              title={texts.noOrders}
              action={
                mayChange && (
                  <Button component={Link} to={`/sites/${site}/reconciliation`}>
                    {texts.addOrders}
                  </Button>
                )
              }
            >
              {texts.noOrdersMore}
            </Empty>
          </Card>
        )
      }
    />
  );
}

function Funnels({ site, report, nameOf }: Shown) {
  const { text, change } = useQueryParams();
  const { connections } = report;
  const shown = connections.find(({ connectionId }) => connectionId === text("connection")) ?? connections[0];
  const texts = reconciliationText.funnel;
  return (
    <>
      <Card
        title={shown ? <PlatformName id={shown.platform}>{texts.title(nameOf(shown))}</PlatformName> : texts.titleOfAll}
        actions={
          connections.length > 1 ? (
            <NativeSelect
              aria-label={texts.connection}
              value={shown?.connectionId ?? ""}
              onChange={({ currentTarget }) => change({ connection: currentTarget.value })}
              data={connections.map((one) => ({ value: one.connectionId, label: nameOf(one) }))}
            />
          ) : undefined
        }
      >
        {shown && <Headline of={shown} name={nameOf(shown)} />}
        <Funnel site={site} run={report.id} steps={shown?.funnel ?? report.funnel} />
      </Card>
      {connections.length > 1 && (
        <Card title={texts.all} about={texts.allAbout} padded={false}>
          <Rows
            label={texts.all}
            columns={columnsOf({ site, report, nameOf })}
            rows={connections}
            keyOf={({ connectionId }) => connectionId}
            empty={null}
          />
        </Card>
      )}
    </>
  );
}

/** "Google has 120 of 197, 61 %", with the money beside it. */
function Headline({ of: { accepted, deliverable, values }, name }: { of: ConnectionReport; name: string }) {
  if (deliverable === 0) return null;
  const texts = reconciliationText.funnel;
  const money = values.map((one) =>
    reconciliationText.acceptance.ofDeliverable(moneyText(one.accepted, one.currency), moneyText(one.deliverable, one.currency)),
  );
  return (
    <Text mb="lg">
      <Text span fw={600}>
        {texts.headline(name, countText(accepted), countText(deliverable), percentText(accepted, deliverable))}
      </Text>{" "}
      <Text span c="dimmed" size="sm">
        {money.join(" · ")}
      </Text>
    </Text>
  );
}

function columnsOf({ site, report, nameOf }: Shown): Column<ConnectionReport>[] {
  const { funnel: texts, acceptance } = reconciliationText;
  return [
    {
      title: acceptance.connection,
      cell: (one) => (
        <PlatformName id={one.platform}>
          <TextLink {...funnelPage(site, report.id, one.connectionId)} fw={500} c="inherit">
            {nameOf(one)}
          </TextLink>
        </PlatformName>
      ),
    },
    ...ownSteps.map(({ step, wide }): Column<ConnectionReport> => ({
      title: texts.steps[step],
      align: "right",
      wide,
      cell: ({ funnel }) => {
        const found = funnel.find((one) => one.step === step);
        return found ? countText(found.count) : <span className="cc-quiet">–</span>;
      },
    })),
    {
      title: texts.largest,
      wide: true,
      cell: ({ funnel }) => {
        const largest = findLargestLoss(funnel);
        if (!largest) return <span className="cc-quiet">–</span>;
        return (
          <>
            <LossLink site={site} run={report.id} loss={largest.loss} of={largest.step} />{" "}
            <Text span size="sm" {...(leavesOut(largest.step.step) && { c: "dimmed" })}>
              {lossText(largest.loss)}
            </Text>
          </>
        );
      },
    },
  ];
}
