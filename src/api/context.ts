// Everything that the handlers work with.

import type { Access } from "../access/access.ts";
import type { Mailer } from "../alerts/mail.ts";
import type { AllowList } from "../delivery/addresses.ts";
import type { Sender } from "../delivery/send.ts";
import type { Tokens } from "../delivery/oauth/tokens.ts";
import type { Checker } from "../domains/check.ts";
import type { TransportRules } from "../http/transport.ts";
import type { Directory } from "../sites/directory.ts";
import type { Store } from "../store/store.ts";

export type ApiParts = {
  version: string;
  store: Store;
  directory: Directory;
  access: Access;
  /** To platforms, and to where customers want their totals. */
  sender: Sender;
  pushSender: Sender;
  /** For what checks of hosts need. */
  checker: Checker;
  tokens: Tokens;
  /** Null where no mail can be sent. */
  mailer: Mailer | null;
  allowPrivate: AllowList;
  transport: TransportRules;
  /** How browsers reach this relay, without a slash at the end. */
  publicUrl: string;
  /** Length of an outbound webhook's period. */
  pushMs: number;
  /** The tag's code. */
  tag: string;
  /** Null without a country file. */
  countryOf: ((address: string) => string | null) | null;
  now: () => number;
};
