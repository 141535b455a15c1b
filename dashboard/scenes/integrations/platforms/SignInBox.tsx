// Sign-in at a platform instead of pasting a token: this browser tab opens the platform's page and returns with `?signIn=`.

import { Alert, Button, Group, Stack, Text } from "@mantine/core";

import { CircleAlert, CircleCheck, LogIn } from "lucide-react";
import { useSend } from "../../../common/api/query.ts";
import { RequestError } from "../../../common/states.tsx";
import { Time } from "../../../common/values.tsx";
import type { Editor } from "./editor.ts";
import { forgetAll } from "../../../common/forms/unsaved.ts";
import { expirySetting, saveInput, type SignInStep } from "./signIn.ts";
import { integrationsText } from "../../../messages/integrations.ts";
import { TextLink } from "../../../common/links.tsx";
import { RichText } from "../../../common/format/RichText.tsx";
import { serverText } from "../../../messages/server.ts";

/** Starts a sign-in and goes to the platform's page. */
export function useSignIn({ site, platform, connection, draft }: Omit<Editor, "fault">) {
  const begin = useSend("POST /sites/:site/sign-ins", {
    onDone: ({ id, url }) => {
      saveInput(id, platform, connection?.id ?? null, draft.changes);
      // The input is kept until the user is back.
      forgetAll();
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
        <RichText
          text={
            platform.signIn.isOptional
              ? integrationsText.signIn.optional(platform.name)
              : integrationsText.signIn.needsApp(platform.name)
          }
          tags={{
            link: (content) => (
              <TextLink to={`/sites/${site}/settings/oauth-apps`} underline="always">
                {content}
              </TextLink>
            ),
          }}
        />
      </Text>
    );
  const expiresAt = Number(connection?.settings[expirySetting] ?? 0);
  const isDone = step.is === "done";
  const isFine = connection !== null && connection.state !== "needs reconnection";
  return (
    <Stack gap="sm" align="flex-start">
      <div aria-live="polite" style={{ width: "100%" }}>
        {isDone && (
          <Alert variant="light" color="green" icon={<CircleCheck size={18} />} title={integrationsText.signIn.done}>
            {!connection
              ? integrationsText.signIn.complete
              : isFine
                ? integrationsText.signIn.save
                : integrationsText.signIn.reconnect}
          </Alert>
        )}
        {step.is === "failed" && (
          <Alert variant="light" color="red" icon={<CircleAlert size={18} />} title={integrationsText.signIn.failed}>
            {serverText(step.error)}
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
          {isDone ? integrationsText.signIn.another : integrationsText.signIn.start(platform.name)}
        </Button>
        {!isDone && connection?.settings["access_token"] && (
          <Text size="sm" c="dimmed">
            <RichText
              text={
                connection.state === "needs reconnection"
                  ? integrationsText.signIn.tokenRefused(platform.name)
                  : expiresAt <= 0
                    ? integrationsText.signIn.token
                    : connection.settings["refresh_token"]
                      ? integrationsText.signIn.tokenRenewed
                      : integrationsText.signIn.tokenExpires
              }
              tags={{ time: () => <Time at={expiresAt} /> }}
            />
          </Text>
        )}
      </Group>
      <RequestError error={error} />
    </Stack>
  );
}
