import { Alert } from "@mantine/core";
import { Hourglass } from "lucide-react";
import type { ApiError } from "../../common/api/api.ts";
import { RequestError } from "../../common/states.tsx";

const waitText = (seconds: number) => {
  const minutes = Math.ceil(seconds / 60);
  return minutes <= 1 ? "in a minute" : minutes < 60 ? `in ${minutes} minutes` : "in about an hour";
};

/** Shows the error of a request; after too many attempts, also the time to wait. */
export function SignInError({ error }: { error: ApiError | null }) {
  if (error?.code !== "too_many") return <RequestError error={error} />;
  return (
    <Alert
      variant="light"
      color="yellow"
      icon={<Hourglass size={18} />}
      role="alert"
      title="Too many attempts"
    >
      {error.waitSeconds > 0 ? `Try again ${waitText(error.waitSeconds)}.` : error.message}
    </Alert>
  );
}
