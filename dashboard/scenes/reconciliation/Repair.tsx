// Repairs what a comparison found, where the orders are listed: sends the orders that were never received, takes conversions of
// refunded orders back, and restates values. Long lists go in parts; the relay answers with the cursor of the next one.

import { Alert, Group, List, Text } from "@mantine/core";
import { CircleCheck, Send, Undo2 } from "lucide-react";
import { useState } from "react";
import { correctedClasses, type CorrectedClass } from "../../../src/kernel/reconciliation.ts";
import { ApiError, call, urlOf, type Answer } from "../../common/api/api.ts";
import { queryClient, useApi } from "../../common/api/query.ts";
import { ConfirmButton } from "../../common/dialogs.tsx";
import { countText } from "../../common/format/numbers.ts";
import { TextLink } from "../../common/links.tsx";
import { CsvButton } from "../../common/lists/CsvButton.tsx";
import { stateWord } from "../../common/values.tsx";
import { reconciliationText } from "../../messages/reconciliation.ts";
import { RichText } from "../../common/format/RichText.tsx";
import { serverText } from "../../messages/server.ts";
import type { RowClass } from "./report.ts";

type Of = { site: string; run: string; count: number };
type Sent = Omit<Answer<"POST /sites/:site/reconciliations/:run/missing/send">, "next" | "waitingFor">;
type Corrected = Omit<Answer<"POST /sites/:site/reconciliations/:run/corrections">, "next">;

/** Nothing for classes that nothing can be done about. */
export function Repair({ rowClass, ...of }: Of & { rowClass: RowClass }) {
  const corrected = correctedClasses.find((name) => name === rowClass);
  if (rowClass === "missing_here") return <SendMissing {...of} />;
  return corrected ? <Correct rowClass={corrected} {...of} /> : null;
}

const waitMs = 1000;

/** Does work in parts, and keeps the sum that `work` reports. A part that fails ends it; it may be started again. */
function useParts<Sum>(work: (report: (sum: Sum) => void) => Promise<void>) {
  const [sum, setSum] = useState<Sum | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const start = async () => {
    setBusy(true);
    setError(null);
    try {
      await work(setSum);
      await queryClient.invalidateQueries();
    } catch (failure) {
      if (failure instanceof ApiError) setError(failure);
      throw failure;
    } finally {
      setBusy(false);
    }
  };
  return { sum, isBusy, error, start };
}

async function sendAll({ site, run }: Of, report: (sum: Sent) => void): Promise<void> {
  const sum: Sent = { sent: 0, withoutEmail: 0, receivedSince: 0, similar: 0, filtered: 0, refused: 0, reasons: {} };
  for (let cursor: string | null = ""; cursor !== null;) {
    const body: { cursor?: string } = cursor === "" ? {} : { cursor };
    const part: Answer<"POST /sites/:site/reconciliations/:run/missing/send"> = await call(
      "POST /sites/:site/reconciliations/:run/missing/send",
      { params: { site, run }, body },
    );
    for (const name of ["sent", "withoutEmail", "receivedSince", "similar", "filtered", "refused"] as const)
      sum[name] += part[name];
    for (const [reason, count] of Object.entries(part.reasons)) sum.reasons[reason] = (sum.reasons[reason] ?? 0) + count;
    report({ ...sum });
    cursor = part.next;
    // The queue of a platform is full; the relay empties it meanwhile.
    if (part.waitingFor !== null) await new Promise((resolve) => void setTimeout(resolve, waitMs));
  }
}

function SendMissing(of: Of) {
  const texts = reconciliationText.repair;
  const { sum, isBusy, error, start } = useParts<Sent>((report) => sendAll(of, report));
  return (
    <div>
      <Group gap="sm">
        <ConfirmButton
          label={texts.send}
          icon={<Send size={14} aria-hidden />}
          danger={false}
          size="compact-sm"
          question={texts.sendQuestion(of.count)}
          consequence={texts.sendConsequence}
          confirm={texts.send}
          of={{ isPending: isBusy, error }}
          onConfirm={start}
        />
        <CsvButton
          href={urlOf("GET /sites/:site/reconciliations/:run/missing.csv", {
            params: { site: of.site, run: of.run },
          })}
          label={texts.csv}
        />
        <Text size="sm" c="dimmed" style={{ flex: "1 1 240px" }}>
          {texts.sendAbout}
        </Text>
      </Group>
      <div aria-live="polite">{sum && <SentResult of={sum} />}</div>
    </div>
  );
}

function SentResult({ of: { sent, withoutEmail, receivedSince, similar, filtered, refused, reasons } }: { of: Sent }) {
  const texts = reconciliationText.repair;
  const others = [
    withoutEmail > 0 && texts.withoutEmail(withoutEmail),
    receivedSince > 0 && texts.receivedSince(receivedSince),
    similar > 0 && texts.similar(similar),
    filtered > 0 && texts.filtered(filtered),
    refused > 0 && texts.refused(refused),
    ...Object.entries(reasons).map(([reason, count]) => reconciliationText.list.reason(countText(count), serverText(reason))),
  ].filter((text) => text !== false);
  return (
    <Alert variant="light" color="green" mt="sm" icon={<CircleCheck size={18} />} title={texts.sent(sent)}>
      {sent > 0 && texts.compareAgain}
      {others.length > 0 && (
        <List size="sm">
          {others.map((text) => (
            <List.Item key={text}>{text}</List.Item>
          ))}
        </List>
      )}
    </Alert>
  );
}

async function correctAll({ site, run }: Of, rowClass: CorrectedClass, report: (sum: Corrected) => void): Promise<void> {
  const sum: Corrected = { orders: 0, left: 0, corrections: {} };
  for (let cursor: string | null = ""; cursor !== null;) {
    const body: { class: CorrectedClass; cursor?: string } = {
      class: rowClass,
      ...(cursor === "" ? {} : { cursor }),
    };
    const part: Answer<"POST /sites/:site/reconciliations/:run/corrections"> = await call(
      "POST /sites/:site/reconciliations/:run/corrections",
      { params: { site, run }, body },
    );
    sum.orders += part.orders;
    sum.left += part.left;
    for (const state of Object.keys(part.corrections) as (keyof typeof part.corrections)[])
      sum.corrections[state] = (sum.corrections[state] ?? 0) + (part.corrections[state] ?? 0);
    report({ ...sum });
    cursor = part.next;
  }
}

function Correct({ rowClass, ...of }: Of & { rowClass: CorrectedClass }) {
  const texts = reconciliationText.repair;
  const settings = useApi("GET /sites/:site/settings", { params: { site: of.site } });
  const { sum, isBusy, error, start } = useParts<Corrected>((report) => correctAll(of, rowClass, report));
  const isOn = settings.data?.items.find(({ name }) => name === "corrections")?.value === "on";
  if (!settings.data) return null;
  if (!isOn)
    return (
      <Text size="sm">
        <RichText
          text={texts.correctOff[rowClass]}
          tags={{
            quality: (text) => <TextLink to={`/sites/${of.site}/integrations/quality`}>{text}</TextLink>,
          }}
        />
      </Text>
    );
  return (
    <div>
      <Group gap="sm">
        <ConfirmButton
          label={texts.correct[rowClass]}
          icon={<Undo2 size={14} aria-hidden />}
          danger={false}
          size="compact-sm"
          question={texts.correctQuestion[rowClass](of.count)}
          consequence={texts.correctConsequence}
          confirm={texts.correct[rowClass]}
          of={{ isPending: isBusy, error }}
          onConfirm={start}
        />
        <Text size="sm" c="dimmed" style={{ flex: "1 1 240px" }}>
          {texts.correctAbout[rowClass]}
        </Text>
      </Group>
      <div aria-live="polite">{sum && <CorrectedResult of={sum} />}</div>
    </div>
  );
}

function CorrectedResult({ of: { orders, left, corrections } }: { of: Corrected }) {
  const texts = reconciliationText.repair;
  const states = Object.entries(corrections).map(([state, count]) => texts.counted(countText(count), stateWord(state)));
  return (
    <Alert variant="light" color="green" mt="sm" icon={<CircleCheck size={18} />} title={texts.corrected(orders)}>
      {[...states, ...(left > 0 ? [texts.left(left)] : [])].map((text) => (
        <div key={text}>{text}</div>
      ))}
    </Alert>
  );
}
