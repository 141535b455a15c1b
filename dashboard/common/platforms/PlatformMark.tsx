// The mark of a platform or of a sender: its own where simple-icons has one that can be read at this size, otherwise the first letters of its
// name.

import type { ReactNode } from "react";
import { usePlatformName } from "../api/platforms.ts";
import marks from "./marks.svg";

const drawn = new Set([
  "calendly",
  "cm360",
  "ga4",
  "google_ads",
  "hubspot",
  "lemonsqueezy",
  "meta",
  "paddle",
  "pinterest",
  "quora",
  "reddit",
  "shopify",
  "snapchat",
  "spotify",
  "stripe",
  "tiktok",
  "webflow",
  "woocommerce",
  "x",
]);

/** Decoration only: the name of the platform is written or spoken next to it. */
export function PlatformMark({ id, name, size = 16 }: { id: string; name: string; size?: number }) {
  if (drawn.has(id))
    return (
      <svg className="cc-mark" width={size} height={size} aria-hidden>
        <use href={`${marks}#${id}`} />
      </svg>
    );
  return (
    <span
      className="cc-mark"
      aria-hidden
      style={{ width: size, height: size, fontSize: Math.round(size * 0.62), lineHeight: `${size}px` }}
    >
      {name.slice(0, 2)}
    </span>
  );
}

/** The name of a platform after its mark. `children` replaces the name, for example with a link. */
export function PlatformName({ id, children }: { id: string; children?: ReactNode }) {
  return (
    <PlatformLabel id={id} name={usePlatformName()(id)}>
      {children}
    </PlatformLabel>
  );
}

/** The same for a list, which looks up all names at once. */
export function PlatformLabel({ id, name, children }: { id: string; name: string; children?: ReactNode }) {
  return (
    <span className="cc-platform">
      <PlatformMark id={id} name={name} />
      {children ?? <span>{name}</span>}
    </span>
  );
}

/** The mark in a tile. */
export function PlatformTile({ id, name }: { id: string; name: string }) {
  return (
    <span className="cc-mark-tile">
      <PlatformMark id={id} name={name} size={22} />
    </span>
  );
}
