import { PasswordInput } from "@mantine/core";
import { signInText } from "../../messages/signIn.ts";
import { commonText } from "../../messages/common.ts";

/** One field whose text can be shown, instead of typing the password twice. */
export function NewPassword({
  label = commonText.password,
  value,
  onChange,
  fault = null,
}: {
  label?: string;
  value: string;
  onChange: (value: string) => void;
  fault?: string | null;
}) {
  return (
    <PasswordInput
      label={label}
      description={signInText.newPassword.about}
      name="new-password"
      autoComplete="new-password"
      minLength={12}
      maxLength={200}
      required
      value={value}
      error={fault}
      onChange={(event) => onChange(event.currentTarget.value)}
      visibilityToggleButtonProps={{ "aria-label": commonText.showPassword, tabIndex: 0 }}
    />
  );
}
