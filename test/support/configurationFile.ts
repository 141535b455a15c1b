// What plans and applies configuration files in tests of one store.

import { expect } from "vitest";
import { createAccess } from "../../src/access/access.ts";
import { operatorRights, type ConfigurationContext } from "../../src/configFile/planning.ts";
import type { Directory } from "../../src/sites/directory.ts";
import type { Store } from "../../src/store/store.ts";

/** Its time is `at`. Close `access` before the store. */
export function configurationOf(store: Store, directory: Directory, at: number) {
  const access = createAccess({
    store,
    directory,
    mailer: null,
    publicUrl: "https://cc.example.com",
    secret: store.accessSecret,
    trusted: () => false,
    now: () => at,
    onDefect: (error) => expect.unreachable(String(error)),
  });
  return {
    store,
    directory,
    access,
    allowPrivate: { hosts: new Set<string>(), networks: [] },
    exportFolder: null,
    rights: operatorRights,
    by: { actor: "test", now: at },
  } satisfies ConfigurationContext;
}
