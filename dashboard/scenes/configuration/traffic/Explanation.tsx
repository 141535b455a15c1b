// A verdict signal by signal: those that fired, and those that were checked.

import { Anchor, Group, Stack, Table, Text } from "@mantine/core";
import { useState } from "react";
import type { Answer } from "../../../common/api/api.ts";
import { reasonText } from "../../../common/format/reasons.ts";
import { State } from "../../../common/values.tsx";

type Checked = Answer<"POST /sites/:site/traffic/check">;

export function VerdictLine({ verdict }: { verdict: Checked["verdict"] }) {
  return (
    <Group gap="xs">
      <State
        of={verdict.bot ? "bot" : "person"}
        word={verdict.bot ? "classified as a bot" : "classified as a person"}
      />
      <Text size="sm" className="cc-number">
        score {verdict.score} of 100
      </Text>
      <Text size="sm" c="dimmed">
        rules {verdict.rules}
      </Text>
    </Group>
  );
}

export function Explanation({ of, label = "Signals" }: { of: Checked; label?: string }) {
  const [showAll, setShowAll] = useState(false);
  const fired = of.signals.filter((one) => one.fired);
  const shown = showAll
    ? of.signals.toSorted((one, other) => Number(other.fired) - Number(one.fired))
    : fired;
  const facts = [
    of.siteRule && `Decided by a rule of this site: ${of.siteRule}.`,
    of.network && `Network: ${of.network}.`,
    of.country && `Country: ${of.country}.`,
    of.notLookedAt.length > 0 && `Not checked: ${of.notLookedAt.join(", ")}.`,
  ].filter((text) => typeof text === "string");
  return (
    <Stack gap="sm">
      <VerdictLine verdict={of.verdict} />
      {facts.length > 0 && (
        <Text size="sm" c="dimmed">
          {facts.join(" ")}
        </Text>
      )}
      {shown.length === 0 ? (
        <Text size="sm">No bot signals found.</Text>
      ) : (
        <div style={{ overflowX: "auto" }} role="region" tabIndex={0} aria-label={label}>
          <Table aria-label={label} verticalSpacing={6} horizontalSpacing="sm">
            <Table.Thead>
              <Table.Tr>
                <Table.Th fw={500} fz="xs">
                  Signal
                </Table.Th>
                <Table.Th fw={500} fz="xs">
                  Says
                </Table.Th>
                <Table.Th fw={500} fz="xs" ta="right">
                  Points
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {shown.map((one) => (
                <Signal key={`${one.category} ${one.name}`} one={one} />
              ))}
            </Table.Tbody>
          </Table>
        </div>
      )}
      <Anchor component="button" type="button" size="sm" ta="left" onClick={() => setShowAll(!showAll)}>
        {showAll ? "Show only bot signals" : `Show all ${of.signals.length} signals`}
      </Anchor>
    </Stack>
  );
}

function Signal({ one }: { one: Checked["signals"][number] }) {
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm">{reasonText(`${one.category}:${one.name}`)}</Text>
        <Text size="xs" c="dimmed">
          {one.category}
        </Text>
      </Table.Td>
      <Table.Td>
        <Text size="sm">{one.why}</Text>
        {one.evidence && (
          <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
            Seen: {one.evidence}
          </Text>
        )}
      </Table.Td>
      <Table.Td ta="right">
        {one.fired ? (
          <Text size="sm" fw={600}>
            +{one.points}
          </Text>
        ) : (
          <Text size="sm" c="dimmed">
            no
          </Text>
        )}
      </Table.Td>
    </Table.Tr>
  );
}
