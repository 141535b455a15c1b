// Small components of the pages of sources.

import type { ReactNode } from "react";
import type { Answer } from "../../common/api/api.ts";
import { useApi } from "../../common/api/query.ts";
import { State } from "../../common/values.tsx";
import { sourcesText } from "../../messages/sources.ts";

export type Source = Answer<"GET /sites/:site/sources">["items"][number];
export type SourceRequest = Answer<"GET /sites/:site/sources/:source/requests">["items"][number];

export const useSources = (site: string) => useApi("GET /sites/:site/sources", { params: { site } }, { everyMs: 15_000 });

/** One source. While it waits it is looked at often: its first request shows at once. */
export const useSource = (site: string, source: string) =>
  useApi(
    "GET /sites/:site/sources",
    { params: { site }, query: { source } },
    { everyMs: (answer) => (answer?.items.some(isWaiting) ? 2000 : 15_000) },
  );

export const isWaiting = ({ lastRequestAt, state, isReadable }: Source) =>
  lastRequestAt === null && state === "active" && isReadable;

export function SourceState({ source }: { source: Source }) {
  if (!source.isReadable) return <State of="unreadable" word={sourcesText.states.unreadable} />;
  if (source.state === "paused") return <State of="paused" word={sourcesText.states.paused} />;
  if (source.missing.length > 0) return <State of="waiting" word={sourcesText.states.noSecret} />;
  if (source.lastRequestAt === null) return <State of="unverified" word={sourcesText.states.waiting} />;
  return <State of="active" word={sourcesText.states.live} />;
}

/** Counts the last day's requests that the sender got an error for. */
export const errorsOf = ({ last24h }: Source) => (last24h.refused ?? 0) + (last24h.postponed ?? 0);

export const reasonText = (reason: string): string => (sourcesText.reasons as Readonly<Record<string, string>>)[reason] ?? reason;

const marked = /`([^`]+)`|\*([^*]+)\*/g;

/** Shows `code` and *names of buttons* as the declarations of kinds mark them. */
export function Marked({ text }: { text: string }) {
  const drawn: ReactNode[] = [];
  let end = 0;
  for (const found of text.matchAll(marked)) {
    const [whole, literal, name] = found;
    drawn.push(text.slice(end, found.index));
    drawn.push(
      literal === undefined ? (
        <strong key={found.index}>{name}</strong>
      ) : (
        <code key={found.index} className="cc-mono" style={{ fontSize: "0.95em" }}>
          {literal}
        </code>
      ),
    );
    end = found.index + whole.length;
  }
  return (
    <>
      {drawn}
      {text.slice(end)}
    </>
  );
}

/** Secrets that the relay made for a new source. They are in memory only, and gone with the page. */
const newSecrets = new Map<string, Readonly<Record<string, string>>>();

export const rememberSecrets = (source: string, secrets: Readonly<Record<string, string>>) => newSecrets.set(source, secrets);
export const newSecretsOf = (source: string): Readonly<Record<string, string>> => newSecrets.get(source) ?? {};
