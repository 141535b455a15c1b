import { Button, Group, Skeleton, Stack, Text, TextInput, Title } from "@mantine/core";
import { lazy, Suspense } from "react";
import type { Answer } from "../../common/api/api.ts";
import { notify } from "../../common/notices.tsx";
import { useForm } from "../../common/forms/useForm.ts";
import { send } from "../../common/api/query.ts";
import { Code, CopyButton } from "../../common/values.tsx";
import { SignInError } from "../signIn/SignInError.tsx";
import { accountText } from "../../messages/account.ts";

const QrCode = lazy(() => import("./QrCode.tsx"));

/** The secret for the authenticator app, the backup codes, and the first code. */
export function TwoFactorSecret({ enrolment, onDone }: { enrolment: Answer<"POST /me/two-factor">; onDone: () => void }) {
  const form = useForm({
    values: { code: "" },
    save: ({ code }) => send("POST /me/two-factor/confirm", { body: { code: code.replaceAll(" ", "") } }),
    onDone: () => {
      onDone();
      notify(accountText.twoFactor.isOn);
    },
  });
  const secret = URL.parse(enrolment.uri)?.searchParams.get("secret") ?? "";
  return (
    <form {...form.props}>
      <Stack gap="lg">
        <Stack gap="xs">
          <Title order={3}>{accountText.twoFactor.addApp}</Title>
          <Group align="center" gap="lg">
            <Suspense fallback={<Skeleton w={168} h={168} />}>
              <QrCode text={enrolment.uri} />
            </Suspense>
            <Stack gap={4} flex={1} miw={200}>
              <Text size="sm">{accountText.twoFactor.scan}</Text>
              <Group gap={4} wrap="nowrap">
                <span className="cc-mono" style={{ overflowWrap: "anywhere" }}>
                  {secret}
                </span>
                <CopyButton value={secret} label={accountText.twoFactor.copySecret} />
              </Group>
            </Stack>
          </Group>
        </Stack>
        <Stack gap="xs">
          <Title order={3}>{accountText.twoFactor.saveCodes}</Title>
          <Text size="sm">{accountText.twoFactor.aboutCodes}</Text>
          <Code label={accountText.twoFactor.backupCodes}>{enrolment.backupCodes.join("\n")}</Code>
        </Stack>
        <Stack gap="xs">
          <Title order={3}>{accountText.twoFactor.enterCode}</Title>
          <Group align="flex-start" gap="sm">
            <TextInput
              {...form.text("code")}
              aria-label={accountText.twoFactor.code}
              placeholder="123456"
              autoComplete="one-time-code"
              inputMode="numeric"
              required
              maxLength={10}
              w={160}
            />
            <Button type="submit" loading={form.isPending}>
              {accountText.twoFactor.turnOn}
            </Button>
          </Group>
          <SignInError error={form.error} />
        </Stack>
      </Stack>
    </form>
  );
}
