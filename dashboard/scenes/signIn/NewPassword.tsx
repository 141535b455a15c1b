import { PasswordInput } from "@mantine/core";
import type { TextProps } from "../../common/forms/useForm.ts";
import { signInText } from "../../messages/signIn.ts";
import { commonText } from "../../messages/common.ts";

/** One field whose text can be shown, instead of typing the password twice. */
export function NewPassword({ label = commonText.password, ...field }: { label?: string } & TextProps) {
  return (
    <PasswordInput
      {...field}
      label={label}
      description={signInText.newPassword.about}
      autoComplete="new-password"
      minLength={12}
      maxLength={200}
      required
      visibilityToggleButtonProps={{ "aria-label": commonText.showPassword, tabIndex: 0 }}
    />
  );
}
