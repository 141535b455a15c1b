// The page layout before sign-in.

import { Anchor, Box, Center, Group, Stack, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { BrandMark } from "../frame/BrandMark.tsx";
import { commonText } from "../../messages/common.ts";
import { language, languageNames, languages } from "../../messages/catalogue/language.ts";
import { chooseLanguage } from "../../common/shownLanguage.ts";
import { Insecure } from "../frame/Insecure.tsx";
import type { FormElementProps } from "../../common/forms/useForm.ts";
import type { ReactNode } from "react";

export function SignInCard({
  title,
  about,
  footer,
  form,
  children,
}: {
  title: string;
  about?: ReactNode;
  footer?: ReactNode;
  /** Makes the card a form. */
  form?: FormElementProps;
  children?: ReactNode;
}) {
  useDocumentTitle(`${title} · Cleancast`);
  const content = <Stack gap="md">{children}</Stack>;
  return (
    <Center component="main" mih="100vh" px="md" py="xl">
      <Stack w="100%" maw={400} gap="lg">
        <Group gap={8} justify="center">
          <BrandMark size={28} />
          <Text fw={650} fz={18}>
            Cleancast
          </Text>
        </Group>
        <Insecure />
        <Box className="cc-card" p="lg">
          <Title order={1}>{title}</Title>
          {about && (
            <Text c="dimmed" size="sm" mt={4} component="div">
              {about}
            </Text>
          )}
          {children && <Box mt="md">{form ? <form {...form}>{content}</form> : content}</Box>}
        </Box>
        {footer && (
          <Text size="sm" ta="center" component="div">
            {footer}
          </Text>
        )}
        <Group justify="center" gap="md" component="nav" aria-label={commonText.language}>
          {languageNames.map((name) => (
            <Anchor
              key={name}
              component="button"
              type="button"
              size="sm"
              lang={name}
              {...(language() === name ? { fw: 600 } : { c: "dimmed" })}
              aria-current={language() === name}
              onClick={() => void chooseLanguage(name)}
            >
              {languages[name]}
            </Anchor>
          ))}
        </Group>
      </Stack>
    </Center>
  );
}
