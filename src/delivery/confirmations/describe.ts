// Confirmations as the trace, the sync log and the command line show them.

import type { ConfirmationReason, ConfirmationState } from "../../kernel/confirmation.ts";
import type { DeliveryState, Mode } from "../../kernel/event.ts";
import { platformOf, platforms } from "../../platforms/index.ts";
import type { ConfirmationRow } from "../../store/confirmations/confirmations.ts";
import type { ConfirmationFilter } from "../../store/deliveries/syncLog/confirmations.ts";

type ShownConfirmation = {
  state: ConfirmationState;
  reason: ConfirmationReason | null;
  detail: string | null;
  /** When the platform answered; null where it has not. */
  updatedAt: number | null;
};

/** Null where there is nothing to confirm: the platform is not asked, or has not accepted the conversion. */
export function toConfirmation(
  { platform, state, mode }: { platform: string; state: DeliveryState; mode: Mode },
  row: ConfirmationRow | null | undefined,
): ShownConfirmation | null {
  if (row) return { state: row.state, reason: row.reason, detail: row.detail, updatedAt: row.updatedAt };
  const isAsked = platformOf(platform)?.confirmations?.coversAll === true && mode === "live";
  return isAsked && state === "sent" ? { state: "unknown", reason: null, detail: null, updatedAt: null } : null;
}

/** A reason alone selects what was not counted because of it. */
export function toConfirmationFilter(
  state: ConfirmationState | undefined,
  reason: ConfirmationReason | undefined,
): { confirmation?: ConfirmationFilter } {
  if (state === undefined && reason === undefined) return {};
  const asked = platforms.filter(({ confirmations }) => confirmations?.coversAll).map(({ id }) => id);
  const filter = { state: state ?? "not counted", platforms: asked } as const;
  return { confirmation: reason === undefined ? filter : { ...filter, reason } };
}

/** One line of text. */
export function describeConfirmation(shown: ShownConfirmation | null): string {
  if (!shown) return "–";
  const { state, reason, detail, updatedAt } = shown;
  if (updatedAt === null) return `${state} (not answered yet)`;
  return `${state}${reason ? `: ${reason}` : ""}${detail ? ` (${detail})` : ""}`;
}
