// One accent and neutral greys, an 8-pixel grid, one type scale. Status colours always come with a word and an icon.

import { createTheme, type MantineColorsTuple } from "@mantine/core";
import { commonText } from "./messages/common.ts";

const accent: MantineColorsTuple = [
  "#eef0fb",
  "#dadff5",
  "#b4bdec",
  "#8b99e2",
  "#6a7bda",
  "#5668d5",
  "#4353c7",
  "#3746b0",
  "#303d9d",
  "#26328a",
];

const grey: MantineColorsTuple = [
  "#f7f8f9",
  "#eff1f3",
  "#e3e6e9",
  "#cfd4d9",
  "#a9b0b8",
  "#848d97",
  "#636c76",
  "#4a525b",
  "#32383f",
  "#1d2126",
];

const dark: MantineColorsTuple = [
  "#d5d9de",
  "#b3b9c1",
  "#949ca6",
  "#6e7781",
  "#3d444d",
  "#2e343c",
  "#23282e",
  "#1a1d22",
  "#14171b",
  "#0e1013",
];

/** Its shades for buttons are dark enough for white text. */
const red: MantineColorsTuple = [
  "#fff1f0",
  "#ffe0dd",
  "#ffc0ba",
  "#ff9a91",
  "#f26a60",
  "#d4382d",
  "#c02b21",
  "#a3221a",
  "#8a1d16",
  "#731a14",
];

/** The darkest shade is the ground of notices in the dark theme: Mantine's own is a bright orange there. */
const yellow: MantineColorsTuple = [
  "#fff9db",
  "#fff3bf",
  "#ffec99",
  "#ffe066",
  "#ffd43b",
  "#fcc419",
  "#fab005",
  "#c98600",
  "#9a6700",
  "#7a5200",
];

/** The list of choices scrolls itself: an area inside it would be one that no key can scroll. */
const choices = {
  defaultProps: { withScrollArea: false },
  styles: { options: { maxHeight: 240, overflowY: "auto" as const } },
};

/** Returns the theme with its texts in the chosen language. */
export const makeTheme = () =>
  createTheme({
    respectReducedMotion: true,
    primaryColor: "accent",
    primaryShade: { light: 6, dark: 5 },
    colors: { accent, gray: grey, dark, red, yellow },
    fontFamily: 'Inter, ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
    fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
    fontSizes: { xs: "12px", sm: "13px", md: "14px", lg: "16px", xl: "20px" },
    spacing: { xs: "8px", sm: "12px", md: "16px", lg: "24px", xl: "32px" },
    radius: { xs: "4px", sm: "6px", md: "8px", lg: "12px", xl: "16px" },
    defaultRadius: "sm",
    headings: {
      fontWeight: "600",
      sizes: {
        h1: { fontSize: "20px", lineHeight: "28px" },
        h2: { fontSize: "16px", lineHeight: "24px" },
        h3: { fontSize: "14px", lineHeight: "20px" },
      },
    },
    cursorType: "pointer",
    components: {
      Button: { defaultProps: { size: "sm" } },
      Modal: {
        defaultProps: { centered: true, radius: "md", closeButtonProps: { "aria-label": commonText.close } },
        styles: { title: { fontSize: 16, fontWeight: 600 } },
      },
      // The placeholder is an element that a menu must not contain; the first item gets the focus instead.
      Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
      Select: choices,
      MultiSelect: choices,
      Autocomplete: choices,
      Notification: { defaultProps: { closeButtonProps: { "aria-label": commonText.close } } },
    },
  });
