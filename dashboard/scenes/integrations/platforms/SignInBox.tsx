// Sign-in at a platform instead of pasting a token: this browser tab opens the platform's page and returns with `?signIn=`.

import { Alert, Anchor, Button, Group, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { CircleAlert, CircleCheck, LogIn } from "lucide-react";
import { useSend } from "../../../common/api/query.ts";
import { RequestError } from "../../../common/states.tsx";
import { Time } from "../../../common/values.tsx";
import type { Editor } from "./editor.ts";
import { saveInput, type SignInStep } from "./signIn.ts";

/** Starts a sign-in and goes to the platform's page. */
export function useSignIn({ site, platform, connection, draft }: Omit<Editor, "error">) {
  const begin = useSend("POST /sites/:site/sign-ins", {
    onDone: ({ id, url }) => {
      saveInput(id, platform, connection?.id ?? null, draft.changes);
      location.assign(url);
    },
  });
  return {
    isBusy: begin.isPending || begin.isSuccess,
    error: begin.error,
    begin: () => begin.mutate({ params: { site }, body: { platform: platform.id } }),
  };
}

export function SignInBox({ editor, step }: { editor: Editor; step: SignInStep }) {
  const { platform, connection, mayChange, site } = editor;
  const { begin, isBusy, error } = useSignIn(editor);
  if (!platform.signIn || !mayChange) return null;
  if (!platform.signIn.ready)
    return (
      <Text size="sm" c="dimmed">
        Paste a token below. To sign in at {platform.name} instead, an owner first sets an OAuth app under{" "}
        <Anchor
          size="sm"
          underline="always"
          renderRoot={(props) => <Link to={`/sites/${site}/settings/oauth-apps`} {...props} />}
        >
          Settings &gt; OAuth apps
        </Anchor>
        .
      </Text>
    );
  const expiresAt = Number(connection?.settings["expires_at"] ?? 0);
  const isDone = step.is === "done";
  const isFine = connection !== null && connection.state !== "needs reconnection";
  return (
    <Stack gap="sm" align="flex-start">
      <div aria-live="polite" style={{ width: "100%" }}>
        {isDone && (
          <Alert variant="light" color="green" icon={<CircleCheck size={18} />} title="You are signed in">
            {!connection
              ? "Complete the settings below, then connect."
              : isFine
                ? "Save to use it."
                : "Reconnect below, and waiting deliveries are sent."}
          </Alert>
        )}
        {step.is === "failed" && (
          <Alert variant="light" color="red" icon={<CircleAlert size={18} />} title="Sign-in failed">
            {step.error}
          </Alert>
        )}
      </div>
      <Group gap="sm">
        <Button
          {...(isDone || isFine ? { variant: "default" } : {})}
          leftSection={<LogIn size={16} aria-hidden />}
          loading={isBusy}
          onClick={begin}
        >
          {isDone ? "Use another account" : `Sign in with ${platform.name}`}
        </Button>
        {!isDone && connection?.settings["access_token"] && (
          <Text size="sm" c="dimmed">
            A token is configured
            {expiresAt > 0 && (
              <>
                ; it expires <Time at={expiresAt} />
                {connection.settings["refresh_token"] ? " and is renewed before that" : ""}
              </>
            )}
            .
          </Text>
        )}
      </Group>
      <RequestError error={error} />
    </Stack>
  );
}
