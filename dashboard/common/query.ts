// Reading and changing through the API, with one cache. What is changed here is read again everywhere.

import {
  QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
  type UseMutationResult,
  type UseQueryResult,
} from "@tanstack/react-query";
import { ApiError, call, type Answer, type Input, type RouteName } from "./api.ts";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // What was refused will be refused again; what could not be reached may be back.
      retry: (failures, error) =>
        failures < 2 && error instanceof ApiError && (error.status === 0 || error.status >= 500),
      refetchOnWindowFocus: true,
    },
  },
});

type Options<Name extends RouteName> = {
  enabled?: boolean;
  /** How often to look again; it may depend on what was read, false is not at all. */
  everyMs?: number | ((answer: Answer<Name> | undefined) => number | false);
  keep?: boolean;
  /** Rows that do not move by themselves when somebody comes back to the page. */
  still?: boolean;
};

export function useApi<Name extends RouteName>(
  name: Name,
  input: Input<Name>,
  { enabled = true, everyMs, keep = false }: Options<Name> = {},
): UseQueryResult<Answer<Name>, ApiError> {
  return useQuery<Answer<Name>, ApiError>({
    queryKey: [name, input],
    queryFn: ({ signal }) => call(name, input, signal),
    enabled,
    ...(everyMs === undefined
      ? {}
      : {
          refetchInterval: typeof everyMs === "number" ? everyMs : ({ state }) => everyMs(state.data),
        }),
    // While a filter changes, the old rows stay until the new ones are there.
    ...(keep ? { placeholderData: (before: Answer<Name> | undefined) => before as never } : {}),
  });
}

type PageOf<Name extends RouteName> =
  Answer<Name> extends { items: (infer Item)[]; next: string | null } ? Item : never;

/** A list in pages: `rows` so far, and `more` where there are more. */
export function useRows<Name extends RouteName>(
  name: Name,
  input: Input<Name>,
  { enabled = true, still = false }: Options<Name> = {},
) {
  const query = useInfiniteQuery({
    queryKey: [name, input, "pages"],
    queryFn: ({ pageParam, signal }) => {
      const { query: asked } = input as { query?: Record<string, unknown> };
      const paged = { ...input, query: { ...asked, ...(pageParam ? { cursor: pageParam } : {}) } };
      return call(name, paged as Input<Name>, signal) as Promise<{
        items: PageOf<Name>[];
        next: string | null;
      }>;
    },
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next,
    enabled,
    ...(still ? { refetchOnWindowFocus: false, refetchOnReconnect: false } : {}),
  });
  return {
    rows: query.data?.pages.flatMap((page) => page.items),
    first: query.data?.pages[0] as Answer<Name> | undefined,
    error: query.error as ApiError | null,
    isLoading: query.isLoading,
    more: query.hasNextPage ? () => void query.fetchNextPage() : null,
    isLoadingMore: query.isFetchingNextPage,
    again: () => void query.refetch(),
  };
}

/** Changes something; afterwards everything that is shown is read again. */
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
