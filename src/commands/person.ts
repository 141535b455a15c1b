import type { Command } from "commander";
import type { Person, Visit } from "../kernel/event.ts";
import {
  browserIds,
  clickIdName,
  clickIds,
  isBrowserId,
  isUtmField,
  utmFields,
} from "../identity/clickIds.ts";
import { looksLikeEmail } from "../identity/email.ts";
import { personOf, readSha256 } from "../identity/person.ts";
import { askedOf, decideFor, enterVisit, erasePerson, exportPerson } from "../identity/people.ts";
import { Refusal } from "../kernel/refusal.ts";
import { findSite } from "../sites/manage.ts";
import { atDesk, pairsOf, print, timeText } from "./context.ts";

type Who = { email?: string; hashedEmail?: string };

export function personCommands(program: Command): void {
  const identity = program.command("identity").description("what is known of the person behind an email");

  named(identity.command("put <site> <name=value...>"))
    .description("store click ids, UTM fields and browser ids of a visit")
    .option("--seen-at <time>", "when the visit was (ISO 8601); now if left out")
    .action((siteText: string, words: string[], options: Who & { seenAt?: string }, command: Command) =>
      atDesk(async ({ store, directory, by }) => {
        const site = findSite({ directory }, siteText);
        const person = whoIs(options);
        const { emailSha256, ...forms } = person;
        const visit = visitOf(
          pairsOf(words, refuseFile),
          readTime(options.seenAt, by.now, site.settings.keepMs),
        );
        await enterVisit(store, askedOf(site, emailSha256, by), visit, forms, site.settings.keepMs);
        print(command, { emailSha256, visit }, `Stored for ${emailSha256}.`);
      }),
    );

  named(identity.command("get <site>"))
    .description("show the identity record and the consent of a person")
    .action((siteText: string, options: Who, command: Command) =>
      atDesk(async ({ store, directory }) => {
        const site = findSite({ directory }, siteText);
        const { emailSha256 } = whoIs(options);
        const record = await store.people.findIdentity(site.id, emailSha256);
        const consent = await store.people.readConsent(site.id, emailSha256);
        print(
          command,
          { emailSha256, identity: record, consent },
          record
            ? `${emailSha256}\nconsent ${consent}\n${record.visits.map(visitText).join("\n")}`
            : `Nothing is stored for ${emailSha256}; consent ${consent}.`,
        );
      }),
    );

  const person = program.command("person").description("a person's right to know and to be forgotten");

  named(person.command("export <site>"))
    .description("everything that is stored about a person, as JSON")
    .action((siteText: string, options: Who, command: Command) =>
      atDesk(async ({ store, directory, by }) => {
        const site = findSite({ directory }, siteText);
        const exported = await exportPerson(store, askedOf(site, whoIs(options).emailSha256, by));
        print(command, exported, JSON.stringify(exported, null, 2));
      }),
    );

  named(person.command("erase <site>"))
    .description("forget a person; an opt-out is kept, so that it still holds")
    .action((siteText: string, options: Who, command: Command) =>
      atDesk(async ({ store, directory, by }) => {
        const site = findSite({ directory }, siteText);
        const { emailSha256 } = whoIs(options);
        const erased = await erasePerson(store, askedOf(site, emailSha256, by));
        print(
          command,
          { emailSha256, ...erased },
          `Erased: identity record, ${erased.visitors} visitors, and the person in ${erased.events} events.`,
        );
      }),
    );

  named(program.command("consent").description("what a person decided").command("set <site> <decision>"))
    .description("granted or denied: may identifiers of this person be used?")
    .action((siteText: string, decision: string, options: Who, command: Command) =>
      atDesk(async ({ store, directory, by }) => {
        const site = findSite({ directory }, siteText);
        if (decision !== "granted" && decision !== "denied") {
          throw new Refusal("decision", `"${decision}" is not a decision; write granted or denied.`);
        }
        const { emailSha256 } = whoIs(options);
        await decideFor(store, askedOf(site, emailSha256, by), decision);
        print(command, { emailSha256, consent: decision }, `${emailSha256}: ${decision}.`);
      }),
    );
}

function named(command: Command): Command {
  return command
    .option("--email <email>", "the person's email; only its hash is stored")
    .option("--hashed-email <hash>", "SHA-256 of the lower-cased email");
}

function whoIs({ email, hashedEmail }: Who): Person {
  if (email !== undefined) {
    if (!looksLikeEmail(email)) throw new Refusal("email", "--email is not an email address.");
    return personOf({ email });
  }
  if (hashedEmail === undefined)
    throw new Refusal("email", "Name the person with --email or --hashed-email.");
  if (!readSha256(hashedEmail))
    throw new Refusal("hashed-email", "--hashed-email must be 64 hex characters.");
  return personOf({ emailSha256: hashedEmail });
}

function visitOf(pairs: Record<string, string>, seenAt: number): Visit {
  const visit: Visit = {
    visitorId: null,
    seenAt,
    browser: null,
    clickIds: {},
    browserIds: {},
    utm: {},
  };
  for (const [name, value] of Object.entries(pairs)) {
    const clickId = clickIdName(name);
    if (!value || value.length > 1024)
      throw new Refusal(name, `${name} needs a value of at most 1024 characters.`);
    if (clickId) visit.clickIds[clickId] = { value, seenAt };
    else if (isUtmField(name)) visit.utm[name] = value;
    else if (isBrowserId(name)) visit.browserIds[name] = value;
    else {
      const known = [...clickIds.map((id) => id.name), ...utmFields, ...browserIds.map((id) => id.name)];
      throw new Refusal(name, `${name} is not an identifier that is kept. Known: ${known.join(", ")}.`);
    }
  }
  return visit;
}

function visitText(visit: Visit): string {
  const ids = Object.entries(visit.clickIds).map(([name, id]) => `${name}=${id.value}`);
  const rest = Object.entries({ ...visit.utm, ...visit.browserIds }).map(
    ([name, value]) => `${name}=${value}`,
  );
  return `${timeText(visit.seenAt)}  ${[...ids, ...rest].join("  ")}${visit.verdict?.bot ? `  (bot: ${visit.verdict.reasons[0]})` : ""}`;
}

function readTime(text: string | undefined, now: number, keepMs: number): number {
  if (text === undefined) return now;
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw new Refusal("seen-at", `--seen-at "${text}" is not a time.`);
  if (at > now) throw new Refusal("seen-at", `--seen-at "${text}" lies in the future.`);
  if (at < now - keepMs)
    throw new Refusal("seen-at", `--seen-at "${text}" is older than visits are kept (keep).`);
  return at;
}

function refuseFile(): string {
  throw new Refusal("arguments", "identifiers are given directly, not from a file.");
}
