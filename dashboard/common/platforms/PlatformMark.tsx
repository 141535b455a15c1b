// The mark of a platform or of a sender: a drawing of what it is for, in one style. An id without a drawing has an empty tile.

import type { ReactNode } from "react";
import { usePlatformName } from "../api/platforms.ts";
import marks from "./marks.svg";

/** Decoration only: the name of the platform is written or spoken next to it. */
export const PlatformMark = ({ id, size = 16 }: { id: string; size?: number }) => (
  <svg className="cc-mark" width={size} height={size} aria-hidden>
    <use href={`${marks}#${id}`} />
  </svg>
);

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
    <span className="cc-inline cc-platform">
      <PlatformMark id={id} />
      {children ?? <span>{name}</span>}
    </span>
  );
}
