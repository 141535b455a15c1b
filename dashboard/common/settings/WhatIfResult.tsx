// The difference that changed settings would make: events and their money, and what each platform would receive.

import { Alert, List, Stack, Table, Text } from "@mantine/core";
import { Info } from "lucide-react";
import type { Differences, Money } from "../../../src/contract/whatIf/differences.ts";
import { usePlatformName } from "../api/platforms.ts";
import { countText, moneyText } from "../format/numbers.ts";
import { filterReasonText, reasonText } from "../format/reasons.ts";
import { TextLink } from "../links.tsx";
import { PlatformLabel } from "../platforms/PlatformMark.tsx";
import { resultsText } from "../../messages/results.ts";
import { serverText } from "../../messages/server.ts";
import type { WhatIfAnswer } from "./useWhatIf.ts";

export function WhatIfResult({ site, answer, isStopped }: { site: string; answer: WhatIfAnswer; isStopped: boolean }) {
  const texts = resultsText.whatIf;
  const { differences, examples, notes, isComplete } = answer;
  const { events, unknown, erased } = differences;
  if (events === 0) return <Text size="sm">{texts.none}</Text>;
  const lines = linesOf(differences);
  const changed = Object.entries(differences.connections).filter(([, one]) => isDifferent(one));
  const isSame = lines.length === 0 && changed.length === 0;
  const hints = [
    ...(isStopped ? [texts.stopped] : []),
    ...(isComplete ? [] : [texts.newestOnly]),
    ...(unknown > 0 ? [texts.unknown(countOf(unknown))] : []),
    ...(erased > 0 ? [texts.erased(countOf(erased))] : []),
    ...notes.map(serverText),
  ];
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed">
        {texts.looked(countOf(events))}
      </Text>
      {isSame && <Text fw={500}>{texts.same}</Text>}
      {lines.map((line) => (
        <Text key={line} fw={500}>
          {line}
        </Text>
      ))}
      {changed.length > 0 && <Connections changed={changed} />}
      {examples.length > 0 && (
        <div>
          <Text size="sm" fw={600} mb={4}>
            {texts.examples}
          </Text>
          <List size="sm">
            {examples.map(({ event, orderId, name, value, currency, filtered }) => (
              <List.Item key={event}>
                <TextLink to={`/sites/${site}/events/${event}`}>{orderId ?? name}</TextLink>
                {value !== null && ` · ${moneyText(value, currency)}`}
                {filtered.before !== filtered.after && ` · ${filterText(filtered.after ?? filtered.before ?? "")}`}
              </List.Item>
            ))}
          </List>
        </div>
      )}
      {hints.length > 0 && (
        <Alert variant="light" color="gray" icon={<Info size={18} aria-hidden />}>
          {hints.map((hint) => (
            <Text key={hint} size="sm">
              {hint}
            </Text>
          ))}
        </Alert>
      )}
    </Stack>
  );
}

const countOf = (count: number) => resultsText.whatIf.eventCount(count);
const requestsOf = (count: number) => resultsText.whatIf.requests(count);

/** `only bot visits: webdriver`, as the relay writes it. */
function filterText(reason: string): string {
  const [code = "", ...detail] = reason.split(": ");
  return filterReasonText({ code, detail: detail.length ? detail.join(": ") : null });
}

const sums = ({ values }: Money) =>
  Object.entries(values)
    .map(([currency, value]) => moneyText(value, currency))
    .join(" + ");

const worth = (money: Money) => resultsText.whatIf.worth(resultsText.whatIf.conversions(money.events), sums(money));

function linesOf({ nowPassed, nowFiltered, withheld }: Differences): string[] {
  const texts = resultsText.whatIf;
  const withReason = ([reason, money]: [string, Money]) => texts.because(worth(money), filterText(reason));
  const more = withheld.after - withheld.before;
  return [
    ...Object.entries(nowPassed).map((one) => texts.passed(withReason(one))),
    ...Object.entries(nowFiltered).map((one) => texts.filtered(withReason(one))),
    ...(more > 0 ? [texts.withheldMore(countOf(more))] : []),
    ...(more < 0 ? [texts.withheldLess(countOf(-more))] : []),
  ];
}

type Connection = Differences["connections"][string];

const isDifferent = ({ before, after, changed }: Connection) =>
  changed > 0 || before.events !== after.events || sums(before) !== sums(after);

const maxFields = 6;

function Connections({ changed }: { changed: readonly (readonly [string, Connection])[] }) {
  const texts = resultsText.whatIf;
  const nameOf = usePlatformName();
  return (
    <Table.ScrollContainer minWidth={320} type="native">
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{texts.platform}</Table.Th>
            <Table.Th>{texts.now}</Table.Th>
            <Table.Th>{texts.changedTo}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {changed.map(([id, one]) => (
            <Table.Tr key={id} style={{ verticalAlign: "top" }}>
              <Table.Td>
                <PlatformLabel id={one.platform} name={nameOf(one.platform)} />
                {detailsOf(one).map((line) => (
                  <Text key={line} size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
                    {line}
                  </Text>
                ))}
              </Table.Td>
              <Table.Td>{id === "new" ? texts.notSaved : worth(one.before)}</Table.Td>
              <Table.Td fw={500}>{worth(one.after)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function detailsOf({ fields, skipped }: Connection): string[] {
  const texts = resultsText.whatIf;
  const byCount = Object.entries(fields).toSorted(([, one], [, other]) => total(other) - total(one));
  return [
    ...byCount
      .slice(0, maxFields)
      .flatMap(([field, { added, removed, changed }]) => [
        ...(added > 0 ? [texts.added(requestsOf(added), field)] : []),
        ...(removed > 0 ? [texts.removed(requestsOf(removed), field)] : []),
        ...(changed > 0 ? [texts.changed(requestsOf(changed), field)] : []),
      ]),
    ...Object.entries(skipped)
      .filter(([, { before, after }]) => before !== after)
      .map(([reason, { before, after }]) => texts.skipped(reasonText(reason), countText(before), countText(after))),
  ];
}

const total = ({ added, removed, changed }: Connection["fields"][string]) => added + removed + changed;
