import { Text } from "@mantine/core";
import { SecretOnce } from "../../common/dialogs.tsx";

/** A link that could not be sent by mail: to be copied and passed on. */
export function LinkOnce({
  title,
  link,
  about,
  onClose,
}: {
  title: string;
  link: string | null;
  about: string;
  onClose: () => void;
}) {
  return (
    <SecretOnce
      title={title}
      secret={link}
      notice="No mail was sent. Copy the link now: it is shown only this once."
      onClose={onClose}
    >
      <Text size="sm">{about}</Text>
    </SecretOnce>
  );
}
