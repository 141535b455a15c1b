// Small shared components: a time, money, an id, a state.

import { Badge, Code as CodeBlock } from "@mantine/core";
import {
  Ban,
  Bot,
  CircleAlert,
  CircleCheck,
  CircleDashed,
  CircleHelp,
  CircleSlash,
  CircleX,
  Clock,
  Pause,
  ShieldCheck,
  TriangleAlert,
  UserRound,
  type LucideIcon,
} from "lucide-react";
import { useEffect, useState } from "react";
import { copyText } from "./copyText.ts";
import { notify } from "./notices.tsx";
import { moneyText } from "./format/numbers.ts";
import { useNow } from "./format/clock.ts";
import { exactTime, whenText } from "./format/times.ts";
import { useSite } from "./api/session.ts";
import { commonText } from "../messages/common.ts";

const noWrap = { whiteSpace: "nowrap" } as const;

/** A relative time that updates itself. On hover it shows the exact time in the site's time zone. */
export function Time({ at, none = commonText.never }: { at: number | null; none?: string }) {
  const site = useSite();
  const now = useNow();
  if (at === null) return <span className="cc-quiet">{none}</span>;
  return (
    <time
      dateTime={new Date(at).toISOString()}
      // Written when it is needed: a list has many times, and few of them are pointed at.
      onPointerOver={({ currentTarget }) => (currentTarget.dataset["tip"] = exactTime(at, site?.timeZone))}
      style={noWrap}
    >
      {/* What happened since the last tick happened just now. */}
      {whenText(at, Math.max(now, Math.min(at, Date.now())), site?.timeZone)}
    </time>
  );
}

export function Money({ value, currency }: { value: number | null; currency: string }) {
  if (value === null) return <span className="cc-quiet">–</span>;
  return <span className="cc-number">{moneyText(value, currency)}</span>;
}

/** An id in monospace, shortened on screen and copied in full. */
export function Id({ value, label = commonText.copyId, short = true }: { value: string; label?: string; short?: boolean }) {
  const shown = short && value.length > 18 ? `${value.slice(0, 8)}…${value.slice(-4)}` : value;
  return (
    <span className="cc-inline">
      <span className={short ? "cc-mono cc-cut" : "cc-mono"} title={value}>
        {shown}
      </span>
      <CopyButton value={value} label={label} />
    </span>
  );
}

// Lucide's icons as plain elements: each row of a list has one, and a component for each would cost more.
const twoSheets = (
  <>
    <rect width="14" height="14" x="8" y="8" rx="2" />
    <path d="M4 16c-1.1 0-2-.9-2-2V4c0-1.1.9-2 2-2h10c1.1 0 2 .9 2 2" />
  </>
);
const iconLook = { width: 14, height: 14, viewBox: "0 0 24 24", fill: "none", stroke: "currentColor", strokeWidth: 2 } as const;
const checkMark = <path d="M20 6 9 17l-5-5" />;

export function CopyButton({ value, label }: { value: string; label: string }) {
  const [result, setResult] = useState<"copied" | "selected" | null>(null);
  const isCopied = result === "copied";
  useEffect(() => {
    if (result === null) return;
    const timer = setTimeout(() => setResult(null), result === "copied" ? 1500 : 6000);
    return () => clearTimeout(timer);
  }, [result]);
  return (
    <button
      type="button"
      className="cc-copy"
      aria-label={label}
      data-tip={result ? commonText.copying[result] : label}
      onClick={(event) => {
        event.stopPropagation();
        event.preventDefault();
        void copyText(value, event.currentTarget).then((isDone) => {
          setResult(isDone ? "copied" : "selected");
          if (!isDone) notify(commonText.copying.selected);
        });
      }}
    >
      <svg {...iconLook} aria-hidden>
        {isCopied ? checkMark : twoSheets}
      </svg>
    </button>
  );
}

type StateName = keyof typeof commonText.states;

/** Returns the word for a state, or the state itself if this version does not know it. */
export const stateWord = (state: string): string => (commonText.states as Readonly<Record<string, string>>)[state] ?? state;

type Look = { icon: LucideIcon; tone: "good" | "bad" | "warn" | "wait" | "quiet" };

const looks: Record<StateName, Look> = {
  // deliveries
  sent: { icon: CircleCheck, tone: "good" },
  queued: { icon: Clock, tone: "wait" },
  skipped: { icon: CircleSlash, tone: "quiet" },
  rejected: { icon: CircleX, tone: "bad" },
  parked: { icon: Pause, tone: "warn" },
  expired: { icon: CircleX, tone: "bad" },
  // confirmations and corrections
  confirmed: { icon: CircleCheck, tone: "good" },
  "not counted": { icon: CircleX, tone: "bad" },
  corrected: { icon: CircleCheck, tone: "good" },
  applied: { icon: CircleCheck, tone: "good" },
  "nothing to correct": { icon: CircleSlash, tone: "quiet" },
  "cannot be taken back": { icon: CircleSlash, tone: "quiet" },
  // events
  accepted: { icon: CircleCheck, tone: "good" },
  filtered: { icon: Ban, tone: "warn" },
  // requests of sources
  duplicate: { icon: CircleSlash, tone: "quiet" },
  learned: { icon: CircleCheck, tone: "quiet" },
  ignored: { icon: CircleSlash, tone: "quiet" },
  refused: { icon: CircleX, tone: "bad" },
  postponed: { icon: Clock, tone: "warn" },
  released: { icon: CircleCheck, tone: "good" },
  // connections, webhooks, keys
  active: { icon: CircleCheck, tone: "good" },
  verified: { icon: ShieldCheck, tone: "good" },
  unverified: { icon: CircleHelp, tone: "warn" },
  unverifiable: { icon: CircleHelp, tone: "quiet" },
  paused: { icon: Pause, tone: "warn" },
  "needs reconnection": { icon: TriangleAlert, tone: "bad" },
  "not connected": { icon: CircleDashed, tone: "quiet" },
  disabled: { icon: CircleSlash, tone: "bad" },
  failing: { icon: CircleAlert, tone: "bad" },
  waiting: { icon: Clock, tone: "warn" },
  expiredKey: { icon: CircleX, tone: "quiet" },
  revoked: { icon: CircleX, tone: "quiet" },
  // consent
  granted: { icon: CircleCheck, tone: "good" },
  denied: { icon: Ban, tone: "bad" },
  unknown: { icon: CircleDashed, tone: "quiet" },
  unreadable: { icon: CircleAlert, tone: "bad" },
  // visits
  person: { icon: UserRound, tone: "good" },
  bot: { icon: Bot, tone: "warn" },
  // switches
  on: { icon: CircleCheck, tone: "good" },
  off: { icon: CircleSlash, tone: "quiet" },
};

const toneColour: Record<Look["tone"], string> = {
  good: "var(--cc-good)",
  bad: "var(--cc-bad)",
  warn: "var(--cc-warn)",
  wait: "var(--cc-wait)",
  quiet: "var(--cc-quiet)",
};

export const colourOf = (state: StateName): string => toneColour[looks[state].tone];

/** A state as icon, word and colour: never colour alone. Plain elements, because rows have one each. */
export function State({ of, word }: { of: StateName; word?: string }) {
  const Icon = looks[of].icon;
  return (
    <span className="cc-inline cc-strong" style={{ color: colourOf(of) }}>
      <Icon size={15} aria-hidden />
      <span>{word ?? commonText.states[of]}</span>
    </span>
  );
}

export function TestBadge() {
  return (
    <Badge size="xs" variant="light" color="gray" tt="none" style={{ flex: "none" }}>
      {commonText.test}
    </Badge>
  );
}

/** Shows text such as a response unchanged, with a button that copies it. */
export function Code({
  children,
  label,
  wraps = true,
}: {
  children: string;
  label?: string;
  /** If false, long lines scroll sideways, so that indented text stays readable. */
  wraps?: boolean;
}) {
  return (
    <div style={{ position: "relative" }}>
      <CodeBlock
        block
        tabIndex={0}
        aria-label={label}
        bd="1px solid var(--cc-line)"
        bg="var(--cc-background)"
        py="sm"
        pl="md"
        pr={40}
        lh="18px"
        style={wraps ? { whiteSpace: "pre-wrap", overflowWrap: "anywhere" } : undefined}
      >
        {children}
      </CodeBlock>
      <div style={{ position: "absolute", top: 6, right: 6 }}>
        <CopyButton value={children} label={label ? commonText.copyThing(label) : commonText.copyText} />
      </div>
    </div>
  );
}
