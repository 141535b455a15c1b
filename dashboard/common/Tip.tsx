// One tooltip for all elements with `data-tip`. A list has hundreds of them, and a component for each would cost more than the
// rows themselves.

import { Portal } from "@mantine/core";
import { useEffect, useLayoutEffect, useRef, useState } from "react";

type Shown = { text: string; at: DOMRect };

export function Tip() {
  const [shown, setShown] = useState<Shown | null>(null);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const show = ({ target }: Event) => {
      const element = target instanceof Element ? target.closest<HTMLElement>("[data-tip]") : null;
      const text = element?.dataset["tip"];
      setShown(element && text ? { text, at: element.getBoundingClientRect() } : null);
    };
    const hide = () => setShown(null);
    const onKey = ({ key }: KeyboardEvent) => key === "Escape" && hide();
    document.addEventListener("pointerover", show);
    document.addEventListener("focusin", show);
    document.addEventListener("focusout", hide);
    document.addEventListener("keydown", onKey);
    document.addEventListener("scroll", hide, { capture: true, passive: true });
    return () => {
      document.removeEventListener("pointerover", show);
      document.removeEventListener("focusin", show);
      document.removeEventListener("focusout", hide);
      document.removeEventListener("keydown", onKey);
      document.removeEventListener("scroll", hide, { capture: true });
    };
  }, []);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || !shown) return;
    const { width, height } = element.getBoundingClientRect();
    const { left, right, top, bottom } = shown.at;
    const margin = 8;
    const centred = (left + right - width) / 2;
    element.style.left = `${Math.max(margin, Math.min(centred, innerWidth - width - margin))}px`;
    element.style.top = `${top - height - 6 < margin ? bottom + 6 : top - height - 6}px`;
  }, [shown]);
  if (!shown) return null;
  return (
    <Portal>
      <div ref={box} role="tooltip" className="cc-tip">
        {shown.text}
      </div>
    </Portal>
  );
}
