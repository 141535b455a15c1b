// What the tabs of a platform's page work on: one connection, or one that is to be.

import type { ApiError } from "../../common/api.ts";
import type { Draft } from "./draft.ts";
import type { Connection, Platform } from "./parts.tsx";

export type Bench = {
  site: string;
  platform: Platform;
  /** Null until it is connected. */
  connection: Connection | null;
  draft: Draft;
  /** A sign-in that is done and not saved yet. */
  signIn: string | null;
  mayChange: boolean;
  /** Why saving was refused. */
  error: ApiError | null;
};
