import type { Answer } from "../contract/contract.ts";
import { maxIdLength, type Visit } from "../kernel/event.ts";
import { browserIds, clickIdName, clickIds, isBrowserId, isUtmField, utmFields } from "../identity/clickIds.ts";
import { hashPerson, readEmail, readSha256, type EmailPerson } from "../identity/person.ts";
import { addOperatorVisit, countPersonData, newPersonRequest } from "../identity/people.ts";
import { holdsAddress, maskAddresses } from "../kernel/maskAddresses.ts";
import { Refusal } from "../kernel/refusal.ts";
import { countOf } from "../kernel/text.ts";
import type { Directory } from "../sites/directory.ts";
import { findSite } from "../sites/manage.ts";
import { readPairs, timeText, type CliCommand } from "./context.ts";
import { confirm } from "./terminal/confirm.ts";

type PersonOptions = { email?: string; hashedEmail?: string };
type FoundVisit = Answer<"POST /sites/:site/people/find">["visits"][number];
type VisitOptions = PersonOptions & { seenAt?: string };

export function personCommands(program: CliCommand): void {
  const identity = program.command("identity").description("the identity record of a person");

  forPerson(identity.command("put <site> <name=value...>"))
    .description("store click ids, UTM fields and browser ids of a visit")
    .option("--seen-at <time>", "the time of the visit (ISO 8601); default now")
    .run(async ({ store, directory, by, print }, siteText: string, words: string[], options: VisitOptions) => {
      const site = findSite({ directory }, siteText);
      const { keepMs } = site.settings;
      const { emailSha256, ...forms } = readPerson(options);
      const seenAt = readSeenAt(options.seenAt, by.now, keepMs);
      const visit = buildVisit(readPairs(words, refuseFileValue), seenAt);
      await addOperatorVisit(store, newPersonRequest(site, emailSha256, by), visit, forms, keepMs);
      print({ emailSha256, visit }, `Stored for ${emailSha256}.`);
    });

  forPerson(identity.command("get <site>"))
    .description("show the identity record and the consent of a person")
    .run(async ({ directory, call, print }, siteText: string, options: PersonOptions) => {
      const found = await call("POST /sites/:site/people/find", inputOf(directory, siteText, options));
      const { emailSha256, consent, visits } = found;
      print(
        found,
        visits.length > 0
          ? `${emailSha256}\nconsent ${consent}\n${visits.map(visitText).join("\n")}`
          : `Nothing is stored for ${emailSha256}; consent ${consent}.`,
      );
    });

  const person = program.command("person").description("export or erase a person's data");

  forPerson(person.command("export <site>"))
    .description("everything that is stored about a person, as JSON")
    .run(async ({ directory, call, print }, siteText: string, options: PersonOptions) => {
      const exported = await call("POST /sites/:site/people/export", inputOf(directory, siteText, options));
      print(exported, JSON.stringify(exported, null, 2));
    });

  forPerson(person.command("erase <site>"))
    .description("erase a person; an opt-out is kept and still applies")
    .option("--yes", "do it without asking")
    .run(async ({ store, directory, call, by, print }, siteText: string, options: PersonOptions & { yes?: boolean }) => {
      const input = inputOf(directory, siteText, options);
      const request = newPersonRequest(findSite({ directory }, siteText), input.body.email, by);
      const data = await countPersonData(store, request);
      const isStored = data.identity || data.visitors > 0 || data.events > 0 || data.orders > 0;
      const what = `This erases ${dataText(data)}. It cannot be undone.`;
      if (isStored) await confirm({ what, yes: options.yes });
      const erased = await call("POST /sites/:site/people/erase", input);
      print(erased, isStored ? `Erased: ${dataText({ ...data, ...erased })}.` : "Nothing was stored about this person.");
    });

  forPerson(program.command("consent").description("the consent of a person").command("set <site> <decision>"))
    .description("granted or denied: may identifiers of this person be used?")
    .run(async ({ directory, call, print }, siteText: string, decision: string, options: PersonOptions) => {
      const { params, body } = inputOf(directory, siteText, options);
      if (decision !== "granted" && decision !== "denied")
        throw new Refusal("decision", `"${decision}" is not a decision; write granted or denied.`);
      const set = await call("POST /sites/:site/people/consent", { params, body: { ...body, decision } });
      print(set, `${body.email}: ${decision}.`);
    });
}

/** The API also takes the hash of an address. */
function inputOf(directory: Directory, siteText: string, options: PersonOptions) {
  const { id } = findSite({ directory }, siteText);
  return { params: { site: id }, body: { email: readPerson(options).emailSha256 } };
}

function dataText({ identity, visitors, events, orders }: Awaited<ReturnType<typeof countPersonData>>): string {
  const parts = [
    ...(identity ? ["the identity record"] : []),
    ...(visitors > 0 ? [countOf(visitors, "visitor")] : []),
    ...(events > 0 ? [`the person in ${countOf(events, "event")}`] : []),
    ...(orders > 0 ? [`the person in ${countOf(orders, "order")}`] : []),
  ];
  return parts.length > 1 ? `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}` : (parts[0] ?? "");
}

function forPerson(command: CliCommand): CliCommand {
  return command
    .option("--email <email>", "the person's email; only its hash is stored")
    .option("--hashed-email <hash>", "SHA-256 of the lower-cased email");
}

function readPerson(options: PersonOptions): EmailPerson {
  if (options.email !== undefined) {
    const email = readEmail(options.email);
    if (!email) throw new Refusal("email", "--email is not an email address.");
    return hashPerson({ email });
  }
  if (options.hashedEmail === undefined) throw new Refusal("email", "Name the person with --email or --hashed-email.");
  const emailSha256 = readSha256(options.hashedEmail);
  if (!emailSha256) throw new Refusal("hashed-email", "--hashed-email must be 64 hex characters.");
  return hashPerson({ emailSha256 });
}

function buildVisit(pairs: Record<string, string>, seenAt: number): Visit {
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
    if (!value || value.length > maxIdLength)
      throw new Refusal(name, `${name} needs a value of at most ${maxIdLength} characters.`);
    if (!isUtmField(name) && holdsAddress(value)) throw new Refusal(name, `${name} is an email address and not an id.`);
    if (clickId) visit.clickIds[clickId] = { value, seenAt };
    else if (isUtmField(name)) visit.utm[name] = maskAddresses(value);
    else if (isBrowserId(name)) visit.browserIds[name] = value;
    else {
      const known = [...clickIds.map((id) => id.name), ...utmFields, ...browserIds.map((id) => id.name)];
      throw new Refusal(name, `${name} is not a known identifier. Known: ${known.join(", ")}.`);
    }
  }
  return visit;
}

function visitText({ seenAt, isBot, reason, ...visit }: FoundVisit): string {
  const ids = Object.entries({ ...visit.clickIds, ...visit.utm, ...visit.browserIds }).map(([name, value]) => `${name}=${value}`);
  return `${timeText(seenAt)}  ${ids.join("  ")}${isBot ? `  (bot: ${reason})` : ""}`;
}

function readSeenAt(text: string | undefined, now: number, keepMs: number): number {
  if (text === undefined) return now;
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw new Refusal("seen-at", `--seen-at "${text}" is not a time.`);
  if (at > now) throw new Refusal("seen-at", `--seen-at "${text}" lies in the future.`);
  if (at < now - keepMs)
    throw new Refusal("seen-at", `--seen-at "${text}" is older than the site keeps visits (setting "keep").`);
  return at;
}

function refuseFileValue(): string {
  throw new Refusal("arguments", "identifiers are given directly, not from a file.");
}
