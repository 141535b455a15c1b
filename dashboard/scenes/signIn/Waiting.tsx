import { Alert } from "@mantine/core";
import { Hourglass } from "lucide-react";
import type { ApiError } from "../../common/api.ts";
import { Refused } from "../../common/states.tsx";

const waitText = (seconds: number) => {
  const minutes = Math.ceil(seconds / 60);
  return minutes <= 1 ? "in a minute" : minutes < 60 ? `in ${minutes} minutes` : "in about an hour";
};

/** What was refused; after too many tries, when to try again. */
export function RefusedOrWait({ error }: { error: ApiError | null }) {
  if (error?.code !== "too_many") return <Refused error={error} />;
  return (
    <Alert variant="light" color="yellow" icon={<Hourglass size={18} />} role="alert" title="Too many tries">
      {error.waitSeconds > 0 ? `Try again ${waitText(error.waitSeconds)}.` : error.message}
    </Alert>
  );
}
