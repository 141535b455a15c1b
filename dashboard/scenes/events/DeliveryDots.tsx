// The deliveries of an event in its row: a mark for each platform.

import type { EventSummary } from "../../common/api/feed.ts";
import { PlatformMark } from "../../common/platforms/PlatformMark.tsx";
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
    <a href={href} data-row-link className="cc-dots" data-tip={all.join("\n")}>
      <span className="cc-hidden">{commonText.event.deliveriesOf(labelOf(event), all.join("; "))}</span>
      {rest.length > 0 ? (
        <span className="cc-marks" aria-hidden>
          {shown.map((one, i) => (
            <span key={one.connection} className="cc-delivery" data-tip={lines[i]}>
              <PlatformMark id={one.platform} size={22} />
              <span className="cc-shape" data-state={one.state} />
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
        <span className="cc-problem" data-state={worst} aria-hidden>
          {commonText.event.stateCount(rest.filter(({ state }) => state === worst).length, commonText.states[worst])}
        </span>
      )}
    </a>
  );
}

type NameOf = (platform: string) => string;
type Delivery = EventSummary["deliveries"][number];

const isProblem = (state: string) => state === "rejected" || state === "expired" || state === "parked";

function describeDelivery({ platform, state, reason }: Delivery, nameOf: NameOf) {
  const name = nameOf(platform);
  const word = commonText.states[state];
  return reason ? commonText.event.deliveryReason(name, word, serverText(reason)) : commonText.reasonDetail(name, word);
}

const labelOf = ({ event, orderId }: EventSummary) => (orderId ? `${event} ${orderId}` : event);
