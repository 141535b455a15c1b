// The test event of a connection, its performance, and the buttons that mend what keeps deliveries from being sent.

import { section } from "./catalogue.ts";
import { plural } from "./plural.ts";

export const repairsText = section("repairs", {
  /** The buttons that mend what keeps a delivery from being sent. */
  repair: {
    resume: "Resume it",
    testCode: "Add a test event code",
    conversionAction: "Choose a conversion action",
    conversionRule: "Choose a conversion rule",
    eventTag: "Choose an event tag",
    events: "Select its events",
    tag: "Check the tag",
  },
  test: {
    title: "Test event",
    connectFirst: (platform: string) => `Connect ${platform} first. The preview shows what it would get.`,
    about: "Sends a sample event. It is never counted and does not affect real conversions.",
    usesSaved: "The test uses the saved settings, without your unsaved changes.",
    name: "Event name",
    send: "Send test event",
    saveAndSend: "Save the code and send",
    log: "Events of test keys",
    aboutLog: (platform: string) =>
      `Events that come with a test key run through everything, and ${platform} gets them in its own test mode. They are never counted.`,
    createKey: "Create a test key",
    viewLog: "View test deliveries",
    adminsOnly: "Only admins can send test events.",
    skipped: "Not sent: it would be skipped",
    accepted: (platform: string) => `${platform} accepted it`,
    rejected: (platform: string) => `${platform} rejected it`,
    unauthorized: (platform: string) => `${platform} did not accept the credentials`,
    signInAgain: "Sign in again, or enter a new token under Connection.",
    unavailable: (platform: string) => `${platform} is temporarily unavailable`,
    retried: "A real conversion would be retried automatically.",
    answer: (platform: string) => `Response from ${platform}`,
    sent: "Sent request",
    response: "Response",
    request: "Request",
  },
  performance: {
    connectFirst: (platform: string) => `Connect ${platform} first.`,
    period: "Period",
    day: "24 hours",
    week: "7 days",
    median: "Median response time",
    attempts: (count: number) => plural(count, { one: "# attempt", other: "# attempts" }),
    p95: "Slowest 5%",
    aboutP95: "95% of the attempts take no longer",
    retries: "Retries",
    failed: "Failed attempts",
    share: (percent: string) => `${percent} of all attempts`,
    incomplete: "There were more attempts than are looked at here: the oldest of this period are left out.",
    latency: "Response time",
    aboutLatency: (platform: string) => `The time in which ${platform} answered 95% of the attempts.`,
    requests: "Attempts",
    aboutRequests: "First attempts, and retries after a failure.",
    first: "First attempts",
    reasons: "Why attempts failed",
    aboutReasons:
      "The most frequent reasons. Failed attempts are retried, unless the platform rejected the conversion.",
    noneFailed: "No attempt failed in this period.",
    toLog: "Show these deliveries",
    reason: (state: string, reason: string) => `${reason} (${state})`,
    nothing: "Nothing was sent in this period.",
  },
});
