import { Anchor, Button, PasswordInput, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useForm } from "../../common/forms/useForm.ts";
import { send, useApi } from "../../common/api/query.ts";
import { CodeStep } from "./CodeStep.tsx";
import { useEnter } from "./enter.ts";
import { SignInCard } from "./SignInCard.tsx";
import { SignInError } from "./SignInError.tsx";
import { commonText } from "../../messages/common.ts";
import { signInText } from "../../messages/signIn.ts";

export default function SignIn() {
  const enter = useEnter();
  const setup = useApi("GET /setup", {});
  const [isCodeNeeded, setCodeNeeded] = useState(false);
  const form = useForm({
    values: { email: "", password: "" },
    save: (values) => send("POST /session", { body: values }),
    onDone: ({ step }) => {
      if (step === "signed in") enter();
      else setCodeNeeded(true);
    },
  });

  if (setup.data?.needed) return <SignInCard title={signInText.setUp.neededTitle} about={signInText.setUp.needed} />;
  if (isCodeNeeded) return <CodeStep onBack={() => setCodeNeeded(false)} />;
  const provider = setup.data?.singleSignOn;
  const toProvider = provider && (
    <Button component="a" href="/oauth/sign-in" variant={setup.data?.passwords ? "default" : "filled"}>
      {signInText.signInWith(provider)}
    </Button>
  );
  if (setup.data?.passwords === false) return <SignInCard title={signInText.signIn}>{toProvider}</SignInCard>;
  return (
    <SignInCard
      title={signInText.signIn}
      form={form.props}
      footer={
        <Anchor component={Link} to="/forgotten" size="sm">
          {signInText.forgotten.link}
        </Anchor>
      }
    >
      <TextInput {...form.text("email")} label={commonText.email} type="email" autoComplete="username" required autoFocus />
      <PasswordInput
        {...form.text("password")}
        label={commonText.password}
        autoComplete="current-password"
        required
        visibilityToggleButtonProps={{ "aria-label": commonText.showPassword }}
      />
      <SignInError error={form.error} />
      <Button type="submit" loading={form.isPending}>
        {signInText.signIn}
      </Button>
      {toProvider}
    </SignInCard>
  );
}
