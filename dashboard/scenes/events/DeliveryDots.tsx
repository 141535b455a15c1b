// The deliveries of an event in its row: a mark for each platform.

import type { ReactNode } from "react";
import type { EventSummary } from "../../common/api/feed.ts";
import { PlatformMark } from "../../common/platforms/PlatformMark.tsx";
import { colourOf } from "../../common/values.tsx";
import { isUnselected, order } from "./eventCells.tsx";
import { commonText } from "../../messages/common.ts";
import { serverText } from "../../messages/server.ts";

/** A mark with the gap after it. */
const markWidth = 29;

/** Returns how many marks fit into one line of this width. */
export const marksIn = (width: number) => Math.floor((width + 2) / markWidth);

/**
 * What each platform did with the event: a mark for each, with its state by shape and colour. Opens the trace. `slots` is the
 * number of marks that fit; on a phone a text stands below them.
 */
export function DeliveryDots({
  event,
  nameOf,
  href,
  slots,
  isNarrow,
}: {
  event: EventSummary;
  nameOf: NameOf;
  href: string;
  slots: number;
  isNarrow: boolean;
}) {
  const unselected = event.deliveries.filter(isUnselected);
  // The worst come first, so that they are seen where not all have space.
  const rest = order.flatMap((state) => event.deliveries.filter((one) => one.state === state && !isUnselected(one)));
  const worst = rest[0] && isProblem(rest[0].state) ? rest[0].state : null;
  const lines = rest.map((one) => describeDelivery(one, nameOf));
  const notSelected = unselected.length > 0 ? commonText.event.notSelected(unselected.length) : "";
  const all = notSelected ? [...lines, notSelected] : lines;
  const textSlots = !isNarrow && worst ? 3 : 0;
  const fitting = Math.max(2, Math.min(worst ? 6 : 8, slots - textSlots));
  const shown = rest.length > fitting ? rest.slice(0, fitting - 1) : rest;
  return (
    <a href={href} data-row-link className="cc-line cc-plain cc-deliveries" data-tip={all.join("\n")}>
      <span className="cc-hidden">{commonText.event.deliveriesOf(labelOf(event), all.join("; "))}</span>
      {rest.length > 0 ? (
        <span className="cc-inline cc-marks" aria-hidden>
          {shown.map((one, i) => (
            <span key={one.connection} className="cc-delivery" data-tip={lines[i]}>
              <PlatformMark id={one.platform} size={22} />
              <svg
                className="cc-shape"
                width={14}
                height={14}
                viewBox="-2 -2 14 14"
                fill={colourOf(one.state)}
                stroke="var(--cc-surface)"
                strokeWidth={4}
                paintOrder="stroke"
              >
                {shapes[one.state]}
              </svg>
            </span>
          ))}
          {shown.length < rest.length && (
            <span className="cc-delivery cc-quiet" data-tip={lines.slice(shown.length).join("\n")}>
              {commonText.event.moreDeliveries(rest.length - shown.length)}
            </span>
          )}
        </span>
      ) : (
        <span className="cc-quiet" aria-hidden>
          {notSelected || commonText.none}
        </span>
      )}
      {worst && (
        <span className="cc-strong cc-cut" style={{ color: colourOf(worst) }} aria-hidden>
          {commonText.event.stateCount(rest.filter(({ state }) => state === worst).length, commonText.states[worst])}
        </span>
      )}
    </a>
  );
}

/** Each state has a shape of its own, for people who do not see the colours. */
const shapes: Record<Delivery["state"], ReactNode> = {
  sent: <circle cx={5} cy={5} r={5} />,
  queued: <path d="M5 0a5 5 0 1 0 0 10A5 5 0 0 0 5 0m0 3a2 2 0 1 1 0 4 2 2 0 0 1 0-4" />,
  skipped: <rect y={3} width={10} height={4} rx={2} />,
  rejected: <path d="M5-1l6 6-6 6-6-6z" />,
  expired: <path d="M5 0l5 10H0z" />,
  parked: <path d="M0 0h3v10H0zM7 0h3v10H7z" />,
};

type NameOf = (platform: string) => string;
type Delivery = EventSummary["deliveries"][number];

const isProblem = (state: string) => state === "rejected" || state === "expired" || state === "parked";

function describeDelivery({ platform, state, reason }: Delivery, nameOf: NameOf) {
  const name = nameOf(platform);
  const word = commonText.states[state];
  return reason ? commonText.event.deliveryReason(name, word, serverText(reason)) : commonText.reasonDetail(name, word);
}

const labelOf = ({ event, orderId }: EventSummary) => (orderId ? `${event} ${orderId}` : event);
