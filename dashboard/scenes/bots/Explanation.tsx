// A verdict signal by signal: those that fired, and those that were checked.

import { Anchor, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { Answer } from "../../common/api/api.ts";
import { reasonText } from "../../common/format/reasons.ts";
import { State } from "../../common/values.tsx";
import { botsText } from "../../messages/bots.ts";
import { countText } from "../../common/format/numbers.ts";
import { serverText, wordText } from "../../messages/server.ts";

type Checked = Answer<"POST /sites/:site/traffic/check">;

export function VerdictLine({ verdict }: { verdict: Checked["verdict"] }) {
  return (
    <Group gap="xs">
      <State of={verdict.bot ? "bot" : "person"} word={verdict.bot ? botsText.check.bot : botsText.check.person} />
      <Text size="sm" className="cc-number">
        {botsText.check.score(verdict.score)}
      </Text>
      <Text size="sm" c="dimmed">
        {botsText.check.rules(verdict.rules)}
      </Text>
    </Group>
  );
}

export function Explanation({ of, label = botsText.check.signals }: { of: Checked; label?: string }) {
  const [showAll, setShowAll] = useState(false);
  const fired = of.signals.filter((one) => one.fired);
  const shown = showAll ? of.signals.toSorted((one, other) => Number(other.fired) - Number(one.fired)) : fired;
  const facts = [
    of.siteRule && botsText.check.siteRule(serverText(of.siteRule)),
    of.network && botsText.check.network(serverText(of.network)),
    of.country && botsText.check.country(of.country),
    of.notLookedAt.length > 0 &&
      botsText.check.unknown(of.notLookedAt.map((part) => nameIn(botsText.check.parts, part)).join(", ")),
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
        <Text size="sm">{botsText.check.noSignals}</Text>
      ) : (
        <div style={{ overflowX: "auto" }} role="region" tabIndex={0} aria-label={label}>
          <table className="cc-table" aria-label={label}>
            <thead>
              <tr>
                <th scope="col">{botsText.check.columns.signal}</th>
                <th scope="col">{botsText.check.columns.meaning}</th>
                <th scope="col" data-align="right">
                  {botsText.check.columns.points}
                </th>
              </tr>
            </thead>
            <tbody>
              {shown.map((one) => (
                <Signal key={`${one.category} ${one.name}`} one={one} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <Anchor component="button" type="button" size="sm" ta="left" onClick={() => setShowAll(!showAll)}>
        {showAll ? botsText.check.showFired : botsText.check.showAll(of.signals.length)}
      </Anchor>
    </Stack>
  );
}

const nameIn = (names: Readonly<Record<string, string>>, name: string): string => names[name] ?? name;

function Signal({ one }: { one: Checked["signals"][number] }) {
  return (
    <tr>
      <td>
        <Text size="sm">{reasonText(`${one.category}:${one.name}`)}</Text>
        <Text size="xs" c="dimmed">
          {nameIn(botsText.check.categories, one.category)}
        </Text>
      </td>
      <td>
        <Text size="sm">{wordText(`${one.category}:${one.name}`) ?? one.why}</Text>
        {one.evidence && (
          <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
            {botsText.check.evidence(one.evidence)}
          </Text>
        )}
      </td>
      <td data-align="right">
        {one.fired && one.mode === "shadow" ? (
          <Text size="sm" c="dimmed">
            {botsText.check.inShadow}
          </Text>
        ) : one.fired ? (
          <Text size="sm" fw={600}>
            {botsText.check.points(countText(one.points))}
          </Text>
        ) : (
          <Text size="sm" c="dimmed">
            {botsText.check.notFired}
          </Text>
        )}
      </td>
    </tr>
  );
}
