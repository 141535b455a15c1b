// What a platform said later of a conversion that it accepted, and what became of its refund, each on one line.

import { Group, Text } from "@mantine/core";
import type { Answer } from "../../../common/api/api.ts";
import { moneyText } from "../../../common/format/numbers.ts";
import { resultsText } from "../../../messages/results.ts";
import { serverText } from "../../../messages/server.ts";
import { State, Time } from "../../../common/values.tsx";

type Delivery = Answer<"GET /sites/:site/events/:event">["deliveries"][number];
type Confirmation = NonNullable<Delivery["confirmation"]>;
type Correction = NonNullable<Delivery["correction"]>;

const reasonOf = ({ reason, detail, updatedAt }: Confirmation) =>
  updatedAt === null
    ? resultsText.notAnswered
    : [reason && resultsText.reasons[reason], detail && `(${detail})`].filter(Boolean).join(" ");

/** The same in a row of a list, whose rows have one height: what does not fit is in the tooltip. */
export function ConfirmationInRow({ of }: { of: Confirmation }) {
  const because = reasonOf(of);
  return (
    <span className="cc-line cc-small">
      <State of={of.state} />
      <span className="cc-quiet cc-cut" data-tip={because || undefined}>
        {because || <Time at={of.updatedAt} />}
      </span>
    </span>
  );
}

export function ConfirmationLine({ of }: { of: Confirmation }) {
  const { state, updatedAt } = of;
  const because = reasonOf(of);
  return (
    <Group gap={8} wrap="wrap">
      <State of={state} />
      <Text size="xs" c="dimmed" component="span" style={{ overflowWrap: "anywhere" }}>
        {because}
        {updatedAt !== null && (
          <>
            {because && " · "}
            <Time at={updatedAt} />
          </>
        )}
      </Text>
    </Group>
  );
}

export function CorrectionLine({ of: { state, value, reason, updatedAt }, currency }: { of: Correction; currency: string }) {
  return (
    <Group gap={8} wrap="wrap">
      <State of={state} />
      <Text size="xs" c="dimmed" component="span" style={{ overflowWrap: "anywhere" }}>
        {[resultsText.left(moneyText(value, currency)), reason && serverText(reason)].filter(Boolean).join(": ")} ·{" "}
        <Time at={updatedAt} />
      </Text>
    </Group>
  );
}
