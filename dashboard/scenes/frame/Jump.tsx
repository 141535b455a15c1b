// ⌘K: finds any page, action, platform, site, event or key. The field keeps the focus; the arrow keys walk along the list.

import "./jump.css";
import { Modal, Text, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { useEffect, useId, useState, type KeyboardEvent } from "react";
import { PlatformMark } from "../../common/platforms/PlatformMark.tsx";
import { frameText } from "../../messages/frame.ts";
import { useTargets, type Target } from "./jumpTargets.tsx";
import { takeTypeAhead } from "./typeAhead.ts";

export default function Jump({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  // Opened after it was mounted, so that the dialog knows which element to give the focus back to.
  const [isShown, setShown] = useState(false);
  useEffect(() => setShown(isOpen), [isOpen]);
  return (
    <Modal.Root
      opened={isShown}
      onClose={onClose}
      yOffset={80}
      size={600}
      padding={0}
      centered={false}
      transitionProps={{ duration: 0 }}
    >
      <Modal.Overlay />
      <Modal.Content aria-label={frameText.search}>
        <Modal.Body>
          <Palette onClose={onClose} />
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}

function Palette({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const listId = useId();
  const targets = useTargets(text);
  const active = Math.max(0, Math.min(chosen, targets.length - 1));
  const go = ({ to, search = {}, hash = "" }: Target) => {
    onClose();
    void navigate({ to, search, hash });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const moves: Record<string, number> = { ArrowDown: active + 1, ArrowUp: active - 1 };
    const next = moves[event.key];
    const target = targets[active];
    if (next !== undefined) setChosen(Math.max(0, Math.min(next, targets.length - 1)));
    else if (event.key === "Enter" && target) go(target);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <TextInput
        data-autofocus
        size="md"
        variant="unstyled"
        leftSection={<Search size={18} aria-hidden />}
        role="combobox"
        aria-label={frameText.jump.label}
        aria-expanded={targets.length > 0}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={targets.length > 0 ? `${listId}-${active}` : undefined}
        placeholder={frameText.jump.hint}
        value={text}
        onFocus={() => setText((before) => before + takeTypeAhead())}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id={listId} role="listbox" aria-label={frameText.jump.results} className="cc-jump">
        {targets.map((target, i) => (
          <Option
            key={target.id}
            id={`${listId}-${i}`}
            target={target}
            isActive={i === active}
            onActive={() => setChosen(i)}
            onPick={() => go(target)}
          />
        ))}
      </div>
      <Text role="status" size="sm" c="dimmed" ta="center" p={targets.length === 0 ? "md" : 0}>
        {targets.length === 0 && frameText.jump.nothing}
      </Text>
    </>
  );
}

function Option({
  id,
  target: { label, about, icon: Icon, platform },
  isActive,
  onActive,
  onPick,
}: {
  id: string;
  target: Target;
  isActive: boolean;
  onActive: () => void;
  onPick: () => void;
}) {
  return (
    <div id={id} role="option" aria-selected={isActive} className="cc-jump-option" onPointerMove={onActive} onClick={onPick}>
      {platform ? <PlatformMark {...platform} /> : <Icon size={16} aria-hidden />}
      <span className="cc-jump-label">{label}</span>
      <span className="cc-quiet">{about}</span>
    </div>
  );
}
