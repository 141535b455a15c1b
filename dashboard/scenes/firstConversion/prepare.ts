// What a first conversion needs: a test key, and a platform that takes it.

import { useMutation, useQuery } from "@tanstack/react-query";
import { ApiError, call } from "../../common/api/api.ts";
import { sampleEvent } from "../configuration/inbound/inboundSamples.ts";
import { sitesText } from "../../messages/sites.ts";

const keyMs = 24 * 60 * 60 * 1000;

/**
 * The test key of this page, created when it is first needed: opening a page changes nothing. A site without a connection gets the
 * sandbox, which accepts everything. Neither a change elsewhere nor a return to the page creates another key.
 */
export function useTestKey(site: string) {
  const query = useQuery<string, ApiError>({
    queryKey: ["first-conversion", site],
    enabled: false,
    queryFn: async () => {
      const { items } = await call("GET /sites/:site/connections", { params: { site } });
      if (items.length === 0)
        await call("POST /sites/:site/connections", { params: { site }, body: { platform: "sandbox", settings: {} } });
      const body = { name: sitesText.first.send.keyName, mode: "test", expiresAt: Date.now() + keyMs } as const;
      return (await call("POST /sites/:site/keys", { params: { site }, body })).key;
    },
    staleTime: "static",
    gcTime: Infinity,
    retry: false,
  });
  return {
    key: query.data,
    error: query.error,
    isPending: query.isFetching,
    /** Undefined if it could not be created. */
    get: async () => query.data ?? (await query.refetch()).data,
  };
}

/** Sends the event that the programs send, under an order id of its own. Returns the event's id. */
export function useSendSample() {
  return useMutation<string | null, Error, string>({
    mutationFn: async (key) => {
      const answer = await fetch("/__cc/inbound", {
        method: "POST",
        headers: { "X-CC-Api-Key": key, "Content-Type": "application/json" },
        body: JSON.stringify({ ...sampleEvent, orderId: `TEST-${Date.now().toString(36).toUpperCase()}` }),
      }).catch(() => {
        throw new Error(sitesText.first.send.noAnswer);
      });
      if (!answer.ok) throw new Error(sitesText.first.send.refused(answer.status, (await answer.text()).slice(0, 300)));
      return answer.headers.get("X-CC-Event-Id");
    },
  });
}
