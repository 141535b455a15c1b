// Conversions and their value by source, campaign and event. A click on one filters the whole page.

import { Anchor, SegmentedControl, Stack } from "@mantine/core";
import { useState } from "react";
import { BarList } from "../../common/charts/BarList.tsx";
import { countText, decimalText, moneyText } from "../../common/format/numbers.ts";
import { ChartCard } from "./ChartCard.tsx";
import { noName, otherNames, useSegment, type SegmentKind } from "./segments.ts";
import { conversionsIn, models, useModel, type Statistics } from "./statistics.ts";
import { overviewText } from "../../messages/overview.ts";

type Props = { site: string; of: Statistics };
type Money = Statistics["totals"]["values"];

const shownAtFirst = 8;

const shownCurrencies = 2;

/** The sums in the main currencies, and the names of others. */
export const valueText = (values: Money): string =>
  values.map(({ value, currency }, i) => (i < shownCurrencies ? moneyText(value, currency) : currency)).join(" + ");

export const segmentName = (name: string): string =>
  name === noName ? overviewText.noName : name === otherNames ? overviewText.otherNames : name;

function NamedBars({ kind, label, items }: { kind: SegmentKind; label: string; items: Statistics["events"] }) {
  const [showAll, setShowAll] = useState(false);
  const { isChosen, toggle } = useSegment();
  // The sum of rare names comes last, however large it is.
  const sorted = items.toSorted(
    (one, other) => Number(one.name === otherNames) - Number(other.name === otherNames) || other.conversions - one.conversions,
  );
  // A conversion that several visits share counts in part.
  const countOf = items.every(({ conversions }) => Number.isInteger(conversions)) ? countText : decimalText;
  const shown = showAll ? sorted : sorted.slice(0, shownAtFirst);
  return (
    <>
      <BarList
        label={label}
        hint={overviewText.filter.hint}
        items={shown.map(({ name, conversions, values }) => ({
          name: segmentName(name),
          key: name,
          value: conversions,
          text: [countOf(conversions), valueText(values)].filter(Boolean).join(" · "),
          isChosen: isChosen(kind, name),
          canPick: name !== otherNames,
        }))}
        onPick={(name) => toggle(kind, name)}
      />
      {sorted.length > shown.length && (
        <Anchor component="button" type="button" size="sm" mt={4} ml={8} onClick={() => setShowAll(true)}>
          {overviewText.reasons.showAll(sorted.length)}
        </Anchor>
      )}
    </>
  );
}

export function BySource({ site, of }: Props) {
  const { segment } = useSegment();
  const [kind, setKind] = useState<"source" | "campaign">("source");
  const { model, setModel } = useModel();
  const texts = overviewText.bySource;
  return (
    <ChartCard
      title={texts.title}
      counts={`${texts.about[kind]} ${texts.aboutModel[model]}`}
      rows={{ to: `/sites/${site}/events`, search: conversionsIn(of, segment), label: overviewText.events }}
      actions={
        <Stack gap={6} align="flex-end">
          <SegmentedControl
            size="xs"
            aria-label={texts.model}
            value={model}
            onChange={setModel}
            data={models.map((value) => ({ value, label: texts.models[value] }))}
          />
          <SegmentedControl
            size="xs"
            aria-label={texts.by}
            value={kind}
            onChange={setKind}
            data={[
              { value: "source", label: texts.source },
              { value: "campaign", label: texts.campaign },
            ]}
          />
        </Stack>
      }
      nothing={of.totals.conversions === 0 ? overviewText.noConversions : null}
    >
      <NamedBars key={kind} kind={kind} label={texts.label[kind]} items={kind === "source" ? of.sources : of.campaigns} />
    </ChartCard>
  );
}

export function ByEvent({ site, of }: Props) {
  const { segment } = useSegment();
  return (
    <ChartCard
      title={overviewText.byEvent.title}
      counts={overviewText.byEvent.about}
      rows={{ to: `/sites/${site}/events`, search: conversionsIn(of, segment), label: overviewText.events }}
      nothing={of.events.length === 0 ? overviewText.noConversions : null}
    >
      <NamedBars kind="event" label={overviewText.byEvent.title} items={of.events} />
    </ChartCard>
  );
}
