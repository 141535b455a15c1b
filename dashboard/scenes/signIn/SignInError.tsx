import { Alert } from "@mantine/core";
import { Hourglass } from "lucide-react";
import type { ApiError } from "../../common/api/api.ts";
import { RequestError } from "../../common/states.tsx";
import { signInText } from "../../messages/signIn.ts";

/** Shows the error of a request; after too many attempts, also the time to wait. */
export function SignInError({ error }: { error: ApiError | null }) {
  if (error?.code !== "too_many") return <RequestError error={error} />;
  return (
    <Alert variant="light" color="yellow" icon={<Hourglass size={18} />} role="alert" title={signInText.tooMany.title}>
      {error.waitSeconds > 0 ? signInText.tooMany.retry(Math.ceil(error.waitSeconds / 60)) : error.message}
    </Alert>
  );
}
