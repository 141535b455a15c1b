// The funnel: orders in the list → received → not filtered → due → accepted → confirmed, with the loss at each step by reason. Each loss
// links to its orders.

import "./funnel.css";
import { Anchor, Text, VisuallyHidden } from "@mantine/core";
import { useState } from "react";
import { countText, percentText } from "../../common/format/numbers.ts";
import { TextLink } from "../../common/links.tsx";
import { reconciliationText } from "../../messages/reconciliation.ts";
import { leavesOut, lossText, rowsPage, type FunnelStep, type Loss } from "./report.ts";

export function Funnel({ site, run, steps }: { site: string; run: string; steps: readonly FunnelStep[] }) {
  const orders = steps[0]?.count ?? 0;
  const isConfirmed = steps.some(({ step }) => step === "confirmed");
  return (
    <>
      <ol className="cc-funnel" aria-label={reconciliationText.funnel.label}>
        {steps.map((step) => (
          <li key={step.step} className="cc-funnel-step" data-narrows={step.narrows}>
            <Step site={site} run={run} of={step} orders={orders} />
          </li>
        ))}
      </ol>
      {isConfirmed && (
        <Text size="xs" c="dimmed" mt="lg" maw={720}>
          {reconciliationText.funnel.confirmations}
        </Text>
      )}
    </>
  );
}

function Step({ site, run, of, orders }: { site: string; run: string; of: FunnelStep; orders: number }) {
  const { step, count, losses, narrows } = of;
  const { steps, hints } = reconciliationText.funnel;
  const hint = (hints as Readonly<Record<string, string>>)[step];
  const lost = losses.reduce((sum, loss) => sum + loss.count, 0);
  const width = (part: number) => ({ width: orders === 0 ? 0 : `${(part / orders) * 100}%` });
  return (
    <>
      <div className="cc-funnel-name">
        <Text size="sm" fw={narrows ? 500 : 400}>
          {steps[step]}
        </Text>
        {hint && (
          <Text size="xs" c="dimmed">
            {hint}
          </Text>
        )}
      </div>
      <div className="cc-funnel-bar" aria-hidden>
        <div data-part="through" style={width(count)} />
        {narrows && <div data-part={leavesOut(step) ? "leftOut" : "lost"} style={width(lost)} />}
      </div>
      <Text size="sm" className="cc-funnel-number cc-number" component="div">
        <Text span fw={narrows ? 600 : 400} fz="md">
          {countText(count)}
        </Text>{" "}
        <Text span c="dimmed" size="sm">
          {percentText(count, orders)}
        </Text>
      </Text>
      {losses.length > 0 && <Losses site={site} run={run} of={of} />}
    </>
  );
}

/** Platforms can have many reasons; the first ones are the largest. */
const maxLosses = 5;

function Losses({ site, run, of }: { site: string; run: string; of: FunnelStep }) {
  const { losses } = of;
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole || losses.length <= maxLosses + 1 ? losses : losses.slice(0, maxLosses);
  return (
    <ul className="cc-funnel-losses">
      {shown.map((loss) => (
        <li key={JSON.stringify(loss.rows)}>
          <LossLink site={site} run={run} loss={loss} of={of} />
          <span>{lossText(loss)}</span>
        </li>
      ))}
      {shown.length < losses.length && (
        <li>
          <span />
          <Anchor component="button" type="button" size="sm" ta="left" onClick={() => setWhole(true)}>
            {reconciliationText.funnel.more(losses.length - shown.length)}
          </Anchor>
        </li>
      )}
    </ul>
  );
}

export function LossLink({ site, run, loss, of: { step, narrows } }: { site: string; run: string; loss: Loss; of: FunnelStep }) {
  const texts = reconciliationText.funnel;
  return (
    <TextLink {...rowsPage(site, run, loss.rows, "funnel")} className="cc-number">
      <VisuallyHidden>{texts.lost(texts.steps[step])} </VisuallyHidden>
      {narrows ? "−" : ""}
      {countText(loss.count)}
    </TextLink>
  );
}
