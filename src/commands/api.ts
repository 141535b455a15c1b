// The management API for commands: its handlers on the installation's store, without HTTP. Loaded for the first call.

import { createCaller, type Caller } from "../api/inProcess.ts";
import type { ApiContext } from "../api/context.ts";
import { createAccess, type Access } from "../access/access.ts";
import { createMailer } from "../alerts/mail.ts";
import { createTokens } from "../delivery/oauth/tokens.ts";
import { createSender } from "../delivery/send.ts";
import { createChecker } from "../domains/checker.ts";
import { readTag } from "../identity/tagScript.ts";
import type { Config } from "../installation/config.ts";
import { loadCountryFile, readVersion } from "../installation/installation.ts";
import { shortId } from "../kernel/ids.ts";
import { pushAttemptMs } from "../outbound/push.ts";
import type { Directory } from "../sites/directory.ts";
import type { Store } from "../store/store.ts";

type CommandApi = { call: Caller; context: () => ApiContext; access: () => Access; close(): Promise<void> };

export function createCommandApi(config: Config, store: Store, directory: Directory): CommandApi {
  const closers: { close(): Promise<void> }[] = [];
  let caller: Caller | null = null;
  let createdContext: ApiContext | null = null;
  let createdAccess: Access | null = null;

  /** Links are printed and never mailed: the operator who runs the command passes them on. */
  function access(): Access {
    if (createdAccess) return createdAccess;
    createdAccess = createAccess({
      store,
      directory,
      mailer: null,
      publicUrl: config.publicUrl,
      secret: store.accessSecret,
      trusted: config.transport.trusted,
      now: Date.now,
      onDefect: (error) => process.stderr.write(`${String(error)}\n`),
    });
    closers.push(createdAccess);
    return createdAccess;
  }

  function createContext(): ApiContext {
    const { connectMs, attemptMs, allowPrivate, exportFolder, publicUrl, smtp } = config;
    const sender = createSender({ connectMs, attemptMs, allow: allowPrivate, origins: config.platformOrigins });
    const pushSender = createSender({ connectMs, attemptMs: pushAttemptMs, allow: allowPrivate, origins: {} });
    const checker = createChecker(config);
    closers.push(sender, pushSender, checker.sender);
    const time = { now: Date.now, elapsed: () => performance.now() };
    let countries: ReturnType<typeof loadCountryFile> | undefined;
    return {
      version: readVersion(),
      store,
      directory,
      access: access(),
      sender,
      pushSender,
      checker,
      tokens: createTokens({ store, directory, sender, owner: shortId(), ...time, renewalMs: attemptMs + 2000 }),
      mailer: smtp && createMailer(smtp),
      allowPrivate,
      exportFolder,
      transport: config.transport,
      publicUrl,
      pushMs: config.pushMs,
      readTag,
      countryOf: config.countryFile ? (address) => (countries ??= loadCountryFile(config))?.countryOf(address) ?? null : null,
      sendMissing: async (site, run, part, by) =>
        (await import("../import/missing.ts")).sendMissing({ store, site, by }, run, part),
      // Visits arrive at relays; only they know the newest.
      tagSeen: () => null,
      imports: {
        readColumns: async (...given) => (await import("../import/uploaded.ts")).readColumns(...given),
        importPart: async (site, part, by) =>
          (await import("../import/uploaded.ts")).importPart({ store, directory, site, by, now: Date.now }, part),
      },
      now: Date.now,
    };
  }

  const context = () => (createdContext ??= createContext());

  return {
    call: (name, input) => (caller ??= createCaller(context()))(name, input),
    context,
    access,
    async close() {
      await Promise.all(closers.map((one) => one.close()));
    },
  };
}
