// Queries and mutations with one cache. A mutation refreshes everything that is shown.

import {
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
import { useState, useSyncExternalStore } from "react";
import { ApiError, call, type Answer, type Input, type RouteName } from "./api.ts";

// A refusal is final; an unreachable relay may be back.
const isPassing = (error: unknown) =>
  error instanceof ApiError && (error.status === 0 || error.status >= 500);
// A proxy in front of the relay answers 502 or 504 for it.
const isAway = (error: unknown) => error instanceof ApiError && [0, 502, 504].includes(error.status);
const againMs = 5_000;
const untilBack = ({ state }: { state: { error: unknown } }) => (isPassing(state.error) ? againMs : false);

// Every page reads the session: it shows whether the relay can be reached.
const pulse = "GET /session";
const cache = new QueryCache({
  onError: (error, { queryKey }) => {
    if (isAway(error) && queryKey[0] !== pulse)
      void queryClient.invalidateQueries({ queryKey: [pulse] }, { cancelRefetch: false });
  },
});

export const queryClient = new QueryClient({
  queryCache: cache,
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, error) => failures < 2 && isPassing(error),
      refetchInterval: untilBack,
      refetchOnWindowFocus: true,
      // A browser without internet may still reach a relay in its own network.
      networkMode: "always",
    },
  },
});

const subscribe = (tell: () => void) => cache.subscribe(tell);
function lastReached(): number | null {
  if (!cache.findAll({ queryKey: [pulse] }).some(({ state }) => isAway(state.error))) return null;
  return Math.max(...cache.getAll().map(({ state }) => state.dataUpdatedAt));
}
/** The time of the last contact while the relay cannot be reached; otherwise null. */
export const useLastReached = () => useSyncExternalStore(subscribe, lastReached);

/**
 * The error to show. While the relay cannot be reached, earlier data stays and a line above the page says so; an error
 * stays while the same request is repeated.
 */
function useStanding(query: { data: unknown; error: ApiError | null; errorUpdateCount: number }) {
  const { data, error, errorUpdateCount } = query;
  const [last, setLast] = useState(error);
  if (error && error !== last) setLast(error);
  if (data !== undefined) return isAway(error) ? null : error;
  return error ?? (errorUpdateCount > 0 ? last : null);
}

type Options<Name extends RouteName> = {
  enabled?: boolean;
  /** The polling interval; it may depend on the data, and false means none. */
  everyMs?: number | ((answer: Answer<Name> | undefined) => number | false);
  keep?: boolean;
  /** Keeps rows in place when the page regains focus. */
  still?: boolean;
};

export function useApi<Name extends RouteName>(
  name: Name,
  input: Input<Name>,
  { enabled = true, everyMs, keep = false }: Options<Name> = {},
): UseQueryResult<Answer<Name>, ApiError> {
  const query = useQuery<Answer<Name>, ApiError>({
    queryKey: [name, input],
    queryFn: ({ signal }) => call(name, input, signal),
    enabled,
    ...(everyMs === undefined
      ? {}
      : {
          refetchInterval: (asked) =>
            untilBack(asked) || (typeof everyMs === "number" ? everyMs : everyMs(asked.state.data)),
        }),
    // While a filter changes, the old rows stay until the new ones are there.
    ...(keep ? { placeholderData: (before: Answer<Name> | undefined) => before as never } : {}),
  });
  const error = useStanding(query);
  return error === query.error ? query : ({ ...query, error } as typeof query);
}

type PageOf<Name extends RouteName> =
  Answer<Name> extends { items: (infer Item)[]; next: string | null } ? Item : never;

type Paged<Name extends RouteName> = { items: PageOf<Name>[]; next: string | null };

/** A list in pages: `rows` so far, and `more` where there are more. */
export function useRows<Name extends RouteName>(
  name: Name,
  input: Input<Name>,
  { enabled = true, still = false }: Options<Name> = {},
) {
  const query = useInfiniteQuery<Paged<Name>, ApiError, InfiniteData<Paged<Name>>, QueryKey, string | null>({
    queryKey: [name, input, "pages"],
    queryFn: ({ pageParam, signal }) => {
      const { query: asked } = input as { query?: Record<string, unknown> };
      const paged = { ...input, query: { ...asked, ...(pageParam ? { cursor: pageParam } : {}) } };
      return call(name, paged as Input<Name>, signal) as Promise<Paged<Name>>;
    },
    initialPageParam: null,
    getNextPageParam: (last) => last.next,
    enabled,
    ...(still ? { refetchOnWindowFocus: false, refetchOnReconnect: false } : {}),
  });
  const error = useStanding(query);
  return {
    rows: query.data?.pages.flatMap((page) => page.items),
    first: query.data?.pages[0] as Answer<Name> | undefined,
    error,
    isLoading: query.isLoading,
    more: query.hasNextPage ? () => void query.fetchNextPage() : null,
    isLoadingMore: query.isFetchingNextPage,
    again: () => void query.refetch(),
  };
}

/** Sends a change; afterwards everything that is shown is refreshed. */
export function useSend<Name extends RouteName>(
  name: Name,
  options: { onDone?: (answer: Answer<Name>, input: Input<Name>) => void } = {},
): UseMutationResult<Answer<Name>, ApiError, Input<Name>> {
  const client = useQueryClient();
  return useMutation<Answer<Name>, ApiError, Input<Name>>({
    mutationFn: (input) => call(name, input),
    onSuccess: async (answer, input) => {
      options.onDone?.(answer, input);
      await client.invalidateQueries();
    },
  });
}
