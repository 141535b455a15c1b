// The state that the tabs of a platform's page share: a connection, or a new one.

import type { ApiError } from "../../../common/api/api.ts";
import type { Draft } from "./draft.ts";
import type { Connection, Platform } from "../connections.tsx";

export type Editor = {
  site: string;
  platform: Platform;
  /** Null until it is connected. */
  connection: Connection | null;
  draft: Draft;
  /** A finished sign-in that is not saved yet. */
  signIn: string | null;
  mayChange: boolean;
  /** The error of the last save. */
  error: ApiError | null;
};
