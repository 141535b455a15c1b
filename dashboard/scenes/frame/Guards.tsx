// The questions of the frame before something is lost: unsaved input, and a request that met an expired sign-in.

import { Button, Group, Modal, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { useEffect, useEffectEvent, useState } from "react";
import { call } from "../../common/api/api.ts";
import { queryClient, useApi } from "../../common/api/query.ts";
import { useForm } from "../../common/forms/useForm.ts";
import { forgetAll } from "../../common/forms/unsaved.ts";
import { commonText } from "../../messages/common.ts";
import { guardText } from "../../messages/guard.ts";
import { signInText } from "../../messages/signIn.ts";
import { SignInError } from "../signIn/SignInError.tsx";

/** Over every other dialog. */
const zIndex = 400;

export function LeaveDialog({ answer }: { answer: (mayDiscard: boolean) => void }) {
  return (
    <Modal opened onClose={() => answer(false)} title={guardText.leave.title} zIndex={zIndex}>
      <Stack>
        <Text size="sm">{guardText.leave.about}</Text>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" color="red" onClick={() => answer(true)}>
            {guardText.leave.discard}
          </Button>
          <Button data-autofocus onClick={() => answer(false)}>
            {guardText.leave.stay}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

export function SignInAgain({ email, answer }: { email: string; answer: (isSignedIn: boolean) => void }) {
  const setup = useApi("GET /setup", {});
  const [isCodeNeeded, setCodeNeeded] = useState(false);
  const [isElsewhere, setElsewhere] = useState(false);
  const goOn = () => {
    void queryClient.invalidateQueries();
    answer(true);
  };
  const other = useSignInElsewhere(isElsewhere, email, goOn);
  const leave = () => {
    forgetAll();
    void queryClient.invalidateQueries();
    answer(false);
  };
  const provider = setup.data?.singleSignOn;
  return (
    <Modal
      opened
      onClose={leave}
      title={guardText.signIn.title}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
      zIndex={zIndex}
    >
      <Stack>
        <Text size="sm">{guardText.signIn.about(email)}</Text>
        {isCodeNeeded ? (
          <CodeForm onDone={goOn} />
        ) : (
          setup.data?.passwords && <PasswordForm email={email} onDone={goOn} onCode={() => setCodeNeeded(true)} />
        )}
        {provider && (
          <Button
            component="a"
            href="/oauth/sign-in"
            target="_blank"
            variant={setup.data?.passwords ? "default" : "filled"}
            onClick={() => setElsewhere(true)}
          >
            {guardText.signIn.inNewTab(provider)}
          </Button>
        )}
        {isElsewhere && (
          <Text size="sm" c="dimmed" role="status">
            {other === null ? guardText.signIn.waiting : guardText.signIn.otherUser(other)}
          </Text>
        )}
        <Group justify="flex-end">
          <Button variant="subtle" color="gray" onClick={leave}>
            {guardText.signIn.leave}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function PasswordForm({ email, onDone, onCode }: { email: string; onDone: () => void; onCode: () => void }) {
  const form = useForm({
    values: { password: "" },
    save: ({ password }) => call("POST /session", { body: { email, password } }),
    onDone: ({ step }) => (step === "signed in" ? onDone() : onCode()),
  });
  return (
    <form {...form.props}>
      <Stack>
        {/* Tells password managers whose password this is. */}
        <input type="hidden" name="username" autoComplete="username" value={email} />
        <PasswordInput
          {...form.text("password")}
          label={commonText.password}
          autoComplete="current-password"
          required
          data-autofocus
          visibilityToggleButtonProps={{ "aria-label": commonText.showPassword }}
        />
        <SignInError error={form.error} />
        <Button type="submit" loading={form.isPending}>
          {signInText.signIn}
        </Button>
      </Stack>
    </form>
  );
}

function CodeForm({ onDone }: { onDone: () => void }) {
  const form = useForm({
    values: { code: "" },
    save: ({ code }) => call("POST /session/code", { body: { code: code.replaceAll(" ", "") } }),
    onDone,
  });
  return (
    <form {...form.props}>
      <Stack>
        <TextInput
          {...form.text("code")}
          label={signInText.code.code}
          description={signInText.code.aboutApp}
          autoComplete="one-time-code"
          required
          autoFocus
          maxLength={40}
        />
        <SignInError error={form.error} />
        <Button type="submit" loading={form.isPending}>
          {signInText.signIn}
        </Button>
      </Stack>
    </form>
  );
}

/** Waits for a sign-in in another tab. Returns the email of a user who is not the same, else null. */
function useSignInElsewhere(isWaiting: boolean, email: string, onDone: () => void): string | null {
  const { data } = useApi("GET /session", {}, { enabled: isWaiting, everyMs: 2_000 });
  const signedIn = isWaiting ? (data?.session?.user.email ?? null) : null;
  const isSame = signedIn === email;
  const finish = useEffectEvent(onDone);
  useEffect(() => {
    if (isSame) finish();
  }, [isSame]);
  return isSame ? null : signedIn;
}
