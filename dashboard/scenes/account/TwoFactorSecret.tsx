import { Button, Group, Skeleton, Stack, Text, TextInput, Title } from "@mantine/core";
import { lazy, Suspense, useState } from "react";
import type { Answer } from "../../common/api/api.ts";
import { notify } from "../../common/notices.tsx";
import { fieldError, otherError } from "../../common/fields.ts";
import { useSend } from "../../common/api/query.ts";
import { Code, CopyButton } from "../../common/values.tsx";
import { SignInError } from "../signIn/SignInError.tsx";

const QrCode = lazy(() => import("./QrCode.tsx"));

/** The secret for the authenticator app, the backup codes, and the first code. */
export function TwoFactorSecret({
  enrolment,
  onDone,
}: {
  enrolment: Answer<"POST /me/two-factor">;
  onDone: () => void;
}) {
  const [code, setCode] = useState("");
  const { mutate, error, isPending } = useSend("POST /me/two-factor/confirm", {
    onDone: () => {
      onDone();
      notify("Two-factor sign-in is on.");
    },
  });
  const secret = URL.parse(enrolment.uri)?.searchParams.get("secret") ?? "";
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        mutate({ body: { code: code.replaceAll(" ", "") } });
      }}
    >
      <Stack gap="lg">
        <Stack gap="xs">
          <Title order={3}>1. Add Cleancast to your authenticator app</Title>
          <Group align="center" gap="lg">
            <Suspense fallback={<Skeleton w={168} h={168} />}>
              <QrCode text={enrolment.uri} />
            </Suspense>
            <Stack gap={4} flex={1} miw={200}>
              <Text size="sm">Scan the QR code with the app, or enter this secret manually:</Text>
              <Group gap={4} wrap="nowrap">
                <span className="cc-mono" style={{ overflowWrap: "anywhere" }}>
                  {secret}
                </span>
                <CopyButton value={secret} label="Copy secret" />
              </Group>
            </Stack>
          </Group>
        </Stack>
        <Stack gap="xs">
          <Title order={3}>2. Save the backup codes</Title>
          <Text size="sm">
            Each works once, for when you do not have your phone. They are shown only now.
          </Text>
          <Code label="backup codes">{enrolment.backupCodes.join("\n")}</Code>
        </Stack>
        <Stack gap="xs">
          <Title order={3}>3. Enter the code that the app shows</Title>
          <Group align="flex-start" gap="sm">
            <TextInput
              aria-label="Code"
              placeholder="123456"
              autoComplete="one-time-code"
              inputMode="numeric"
              required
              maxLength={10}
              w={160}
              value={code}
              error={fieldError(error, "code")}
              onChange={(event) => setCode(event.currentTarget.value)}
            />
            <Button type="submit" loading={isPending} disabled={code.trim().length < 6}>
              Turn on
            </Button>
          </Group>
          <SignInError error={otherError(error, "code")} />
        </Stack>
      </Stack>
    </form>
  );
}
