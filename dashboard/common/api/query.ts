// Queries and mutations with one cache. A mutation refreshes all queries that are in use.

import {
  hashKey,
  QueryCache,
  QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
  type InfiniteData,
  type QueryKey,
  type UseMutationResult,
  type UseQueryResult,
} from "@tanstack/react-query";
import { useCallback, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { ApiError, call, type Answer, type Input, type RouteName } from "./api.ts";
import { signInAgain } from "./signInAgain.ts";

// A refusal is final; an unreachable relay may be back.
const isTransient = (error: unknown) => error instanceof ApiError && (error.status === 0 || error.status >= 500);
// A proxy in front of the relay answers 502 or 504 for it.
const isUnreachable = (error: unknown) => error instanceof ApiError && [0, 502, 504].includes(error.status);
const isSignedOut = (error: unknown) => error instanceof ApiError && error.code === "signed_out";
const retryMs = 5_000;
const retryInterval = ({ state }: { state: { error: unknown } }) => (isTransient(state.error) ? retryMs : false);

// Every page reads the session, so its errors show when the relay cannot be reached.
const sessionRoute = "GET /session";
const cache = new QueryCache({
  onError: (error, { queryKey }) => {
    // The session tells if the relay is unreachable, or the sign-in has ended.
    if ((isUnreachable(error) || isSignedOut(error)) && queryKey[0] !== sessionRoute) checkSession();
  },
});

/** Finds out now if the relay still answers and knows this user, and not with the next request of the page. */
export const checkSession = () => void queryClient.invalidateQueries({ queryKey: [sessionRoute] }, { cancelRefetch: false });

export const queryClient = new QueryClient({
  queryCache: cache,
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, error) => failures < 2 && isTransient(error),
      refetchInterval: retryInterval,
      refetchOnWindowFocus: true,
      // A browser without internet may still reach a relay in its own network.
      networkMode: "always",
    },
  },
});

const subscribe = (listener: () => void) => cache.subscribe(listener);
function lastReached(): number | null {
  if (!cache.findAll({ queryKey: [sessionRoute] }).some(({ state }) => isUnreachable(state.error))) return null;
  return Math.max(...cache.getAll().map(({ state }) => state.dataUpdatedAt));
}
/** The time of the last contact while the relay cannot be reached; otherwise null. */
export const useLastReached = () => useSyncExternalStore(subscribe, lastReached);

/**
 * Returns the error to show. While the relay cannot be reached, earlier data stays visible and a line above the page reports
 * the outage. Without data, the last error stays visible while the request is repeated.
 */
function useShownError(query: { data: unknown; error: ApiError | null; errorUpdateCount: number }) {
  const { data, error, errorUpdateCount } = query;
  const [last, setLast] = useState(error);
  if (error && error !== last) setLast(error);
  if (data !== undefined) return isUnreachable(error) ? null : error;
  return error ?? (errorUpdateCount > 0 ? last : null);
}

type Options<Name extends RouteName> = {
  enabled?: boolean;
  /** The polling interval; it may depend on the data, and false means none. */
  everyMs?: number | ((answer: Answer<Name> | undefined) => number | false);
  /** Shows the old data of the same site, or the same thing of it, until the new data is loaded. */
  keepPrevious?: boolean;
};

/** Figures of one site must not stand under the name of another. */
const isOfSameThing = (one: unknown, other: unknown) => hashKey([paramsOf(one)]) === hashKey([paramsOf(other)]);
const paramsOf = (input: unknown) => (input as Partial<Input<RouteName>> | undefined)?.params;

export function useApi<Name extends RouteName>(
  name: Name,
  input: Input<Name>,
  { enabled = true, everyMs, keepPrevious = false }: Options<Name> = {},
): UseQueryResult<Answer<Name>, ApiError> {
  const query = useQuery<Answer<Name>, ApiError>({
    queryKey: [name, input],
    queryFn: ({ signal }) => call(name, input, signal),
    enabled,
    ...(everyMs === undefined
      ? {}
      : {
          refetchInterval: (current) =>
            retryInterval(current) || (typeof everyMs === "number" ? everyMs : everyMs(current.state.data)),
        }),
    ...(keepPrevious
      ? {
          placeholderData: (before: Answer<Name> | undefined, { queryKey = [] }: { queryKey?: QueryKey } = {}) =>
            (isOfSameThing(queryKey[1], input) ? before : undefined) as never,
        }
      : {}),
  });
  const error = useShownError(query);
  return error === query.error ? query : ({ ...query, error } as typeof query);
}

/** Asks for what a page will need, before its code is loaded. The page finds the answer, or asks again after a failure. */
export const askEarly = <Name extends RouteName>(name: Name, input: Input<Name>): Promise<Answer<Name> | undefined> =>
  queryClient.fetchQuery({ queryKey: [name, input], queryFn: ({ signal }) => call(name, input, signal) }).catch(() => undefined);

type PageOf<Name extends RouteName> = Answer<Name> extends { items: (infer Item)[]; next: string | null } ? Item : never;

type Paged<Name extends RouteName> = { items: PageOf<Name>[]; next: string | null };

/** Who scrolls on reads many rows, and the first page is already shown. */
const laterPage = 200;

/**
 * Loads a list page by page. `more` loads the next page; it is null after the last one. `keepRows` keeps rows in place when the
 * page regains focus.
 */
export function useRows<Name extends RouteName>(
  name: Name,
  input: Input<Name>,
  { enabled = true, keepRows = false }: { enabled?: boolean; keepRows?: boolean } = {},
) {
  const query = useInfiniteQuery<Paged<Name>, ApiError, InfiniteData<Paged<Name>>, QueryKey, string | null>({
    queryKey: [name, input, "pages"],
    queryFn: ({ pageParam, signal }) => {
      const { query: filter } = input as { query?: Record<string, unknown> };
      const next = pageParam ? { cursor: pageParam, ...(keepRows ? { limit: laterPage } : {}) } : {};
      const paged = { ...input, query: { ...filter, ...next } };
      return call(name, paged as Input<Name>, signal) as Promise<Paged<Name>>;
    },
    initialPageParam: null,
    getNextPageParam: (last) => last.next,
    enabled,
    ...(keepRows ? { refetchOnWindowFocus: false, refetchOnReconnect: false } : {}),
  });
  const error = useShownError(query);
  const listed = {
    rows: useMemo(() => query.data?.pages.flatMap((page) => page.items), [query.data]),
    error,
    more: query.hasNextPage ? () => void query.fetchNextPage() : null,
    isLoadingMore: query.isFetchingNextPage,
  };
  const retry = () => void query.refetch();
  return {
    ...listed,
    first: query.data?.pages[0] as Answer<Name> | undefined,
    isLoading: query.isLoading,
    retry,
    /** For the table of the rows. */
    listed: { ...listed, onRetry: retry },
  };
}

type RequestOptions<In, Out> = { onDone?: (answer: Out, input: In) => void; onError?: (error: ApiError) => void };

/** A request of the user: one at a time, so that two Enters or a double click send it once. */
export function useRequest<In, Out>(
  run: (input: In) => Promise<Out>,
  { onDone, onError }: RequestOptions<In, Out>,
): UseMutationResult<Out, ApiError, In> {
  const client = useQueryClient();
  const running = useRef<Promise<Out> | null>(null);
  const mutation = useMutation<Out, ApiError, In>({
    mutationFn: run,
    onSuccess: async (answer, input) => {
      onDone?.(answer, input);
      await client.invalidateQueries();
    },
    ...(onError ? { onError } : {}),
  });
  const { mutateAsync: begin } = mutation;
  type Given = Parameters<typeof begin>;
  const mutateAsync = useCallback(
    (...given: Given) => {
      running.current ??= begin(...given).finally(() => (running.current = null));
      return running.current;
    },
    [begin],
  );
  const mutate = useCallback(
    (...given: Given) => {
      // The error is in the state of the mutation.
      if (running.current === null) mutateAsync(...given).catch(() => {});
    },
    [mutateAsync],
  );
  return { ...mutation, mutate, mutateAsync };
}

/** Sends a change. If the sign-in has expired, it asks for it in place and sends the change again. */
export async function send<Name extends RouteName>(name: Name, input: Input<Name>): Promise<Answer<Name>> {
  try {
    return await call(name, input);
  } catch (error) {
    if (!isSignedOut(error) || !(await signInAgain())) throw error;
    return call(name, input);
  }
}

/** Sends a change, then refreshes all queries that are in use. */
export const useSend = <Name extends RouteName>(
  name: Name,
  options: RequestOptions<Input<Name>, Answer<Name>> = {},
): UseMutationResult<Answer<Name>, ApiError, Input<Name>> => useRequest((input) => send(name, input), options);
