import { Text } from "@mantine/core";
import { OneTimeSecret } from "../../common/dialogs.tsx";

/** A link that could not be sent by email, to be copied and passed on. */
export function OneTimeLink({
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
    <OneTimeSecret
      title={title}
      secret={link}
      notice="No email was sent. Copy the link now: it is shown only once."
      onClose={onClose}
    >
      <Text size="sm">{about}</Text>
    </OneTimeSecret>
  );
}
