// Defines the services and settings that the handlers use.

import type { Access } from "../access/access.ts";
import type { Mailer } from "../alerts/mail.ts";
import type { AllowList } from "../delivery/addresses.ts";
import type { Sender } from "../delivery/send.ts";
import type { Tokens } from "../delivery/oauth/tokens.ts";
import type { Checker } from "../domains/check.ts";
import type { Answer, Query } from "../contract/contract.ts";
import type { TransportRules } from "../http/transport.ts";
import type { By } from "../kernel/refusal.ts";
import type { MissingPart, SentMissing } from "../reconcile/missing.ts";
import type { Directory, Site } from "../sites/directory.ts";
import type { Run } from "../store/reconciliation/runs.ts";
import type { Store } from "../store/store.ts";

export type ApiContext = {
  version: string;
  store: Store;
  directory: Directory;
  access: Access;
  /** Sends to platforms and alert webhooks; `pushSender` sends the totals. */
  sender: Sender;
  pushSender: Sender;
  checker: Checker;
  tokens: Tokens;
  /** Null without a mail server. */
  mailer: Mailer | null;
  allowPrivate: AllowList;
  /** The operator's folder for exports of data; null without one. */
  exportFolder: string | null;
  transport: TransportRules;
  /** The URL under which browsers reach this relay, without a trailing slash. */
  publicUrl: string;
  /** Length of a webhook's period. */
  pushMs: number;
  /** Returns the tag's source. */
  readTag: () => string;
  /** Null without a country file. */
  countryOf: ((address: string) => string | null) | null;
  /** Sends orders that a reconciliation found missing; `after` is the cursor of the part. */
  sendMissing: (site: Site, run: Run, part: MissingPart, by: By) => Promise<SentMissing>;
  /** The newest visit that this node received, and on how many pages; null if it received none. */
  tagSeen: (siteId: string) => { at: number; pages: number } | null;
  imports: UploadedImports;
  now: () => number;
};

/** Reads uploaded files as rows of an import. */
type UploadedImports = {
  readColumns(
    siteId: string,
    file: Buffer,
    kind: Query<"POST /sites/:site/imports/columns">["kind"],
  ): Promise<Answer<"POST /sites/:site/imports/columns">>;
  importPart(
    site: Site,
    part: { upload: Buffer; query: Query<"POST /sites/:site/imports/parts"> },
    by: By,
  ): Promise<Answer<"POST /sites/:site/imports/parts">>;
};
