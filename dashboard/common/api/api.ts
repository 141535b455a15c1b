// The client of the management API. Only types come from the contract, so none of it is bundled.

import type { Answer, BodyIn, Contract, ParamNames, QueryIn, RouteName } from "../../../src/contract/contract.ts";
import type { RefusalCode } from "../../../src/kernel/refusal.ts";
import { showAllTexts } from "../../messages/catalogue/catalogue.ts";
import { commonText } from "../../messages/common.ts";
import { keepMessages, messageOf, serverText } from "../../messages/server.ts";
import { faultText } from "../forms/faults.ts";

export type { Answer, RouteName };

type Params<Name extends RouteName> = [ParamNames<Name>] extends [never]
  ? { params?: undefined }
  : { params: Record<ParamNames<Name>, string> };
type WithQuery<Name extends RouteName> = Contract[Name] extends { query: unknown }
  ? { query?: QueryIn<Name> }
  : { query?: undefined };
type WithBody<Name extends RouteName> = Contract[Name] extends { body: unknown } ? { body: BodyIn<Name> } : { body?: undefined };
export type Input<Name extends RouteName> = Params<Name> & WithQuery<Name> & WithBody<Name>;

/** An error response of the relay; `offline` if it cannot be reached. */
export class ApiError extends Error {
  readonly code: RefusalCode | "offline";
  /** What is wrong with which field; empty if the error is about none. */
  readonly faults: readonly { field: string; text: string }[];
  readonly status: number;
  /** Seconds until a retry makes sense; 0 if unknown. */
  readonly waitSeconds: number;

  constructor(
    status: number,
    code: RefusalCode | "offline",
    message: string,
    faults: ApiError["faults"] = [],
    waitSeconds: number = 0,
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.faults = faults;
    this.waitSeconds = waitSeconds;
  }
}

type Loose = { params?: Record<string, string>; query?: Record<string, unknown>; body?: unknown };

/** Returns the URL of a route. CSV links and streams use it directly, because the browser opens them itself. */
export function urlOf<Name extends RouteName>(name: Name, input: Omit<Input<Name>, "body">): string {
  const { params = {}, query = {} } = input as Loose;
  const path = (name.split(" ")[1] as string).replace(/:(\w+)/g, (_, key: string) => encodeURIComponent(params[key] ?? ""));
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query as Record<string, string | number | undefined>))
    if (value !== undefined && value !== "") search.set(key, String(value));
  return `/api/v1${path}${search.size ? `?${search}` : ""}`;
}

type Refusal = {
  code: RefusalCode;
  message: string;
  field?: string;
  faults?: readonly { field: string; message: string }[];
};

export function call<Name extends RouteName>(name: Name, input: Input<Name>, signal?: AbortSignal): Promise<Answer<Name>> {
  const { body } = input as Loose;
  return request(name, input, {
    ...(signal ? { signal } : {}),
    ...(body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });
}

/** Sends a file, or a part of it. */
export const upload = <Name extends RouteName>(name: Name, input: Input<Name>, file: string): Promise<Answer<Name>> =>
  request(name, input, { headers: { "content-type": "text/csv" }, body: file });

async function request<Name extends RouteName>(name: Name, input: Input<Name>, init: RequestInit): Promise<Answer<Name>> {
  let response: Response;
  try {
    const method = name.split(" ")[0] as string;
    response = await fetch(urlOf(name, input), { method, credentials: "same-origin", ...init });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiError(0, "offline", commonText.offline);
  }
  const answer: unknown = await response.json().catch(() => null);
  keepMessages(answer);
  if (response.ok) return answer as Answer<Name>;
  const { error } = (answer ?? {}) as { error?: Refusal };
  if (error) await showAllTexts();
  throw new ApiError(
    response.status,
    error?.code ?? "internal",
    error ? personText(error) : commonText.failedRequest(response.status),
    faultsOf(error),
    Number(response.headers.get("retry-after")) || 0,
  );
}

/** The message for programs names API keys. */
const personText = ({ code, message }: Refusal) =>
  code === "signed_out" && messageOf(message)?.code === "not_signed_in" ? commonText.signedOut : serverText(message);

function faultsOf(error: Refusal | undefined): ApiError["faults"] {
  if (error?.field === undefined) return [];
  const all = error.faults ?? [{ field: error.field, message: error.message }];
  return all.map(({ field, message }) => ({ field, text: faultText(message) }));
}
