// ⌘K: does things, and finds any page, platform, site, event or key. The field keeps the focus; the arrow keys walk along the
// list, Enter chooses, and Ctrl Enter copies the same as a command.

import "./jump.css";
import { Button, Kbd, Modal, Text, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { useEffect, useId, useRef, useState, type KeyboardEvent } from "react";
import { PlatformMark } from "../../common/platforms/PlatformMark.tsx";
import { copyText } from "../../common/copyText.ts";
import { notify } from "../../common/notices.tsx";
import { frameText } from "../../messages/frame.ts";
import { guardText } from "../../messages/guard.ts";
import { useTargets, type Target } from "./jumpTargets.tsx";
import { rememberTarget } from "./recentTargets.ts";
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
  const groups = useTargets(text);
  const targets = groups.flatMap((group) => group.targets);
  const active = Math.max(0, Math.min(chosen, targets.length - 1));
  const command = targets[active]?.command;
  const go = ({ id, to, search = {}, hash = "", href, run }: Target) => {
    onClose();
    rememberTarget(id);
    if (run) run();
    else if (href !== undefined) location.assign(href);
    else if (to !== undefined) void navigate({ to, search, hash });
  };
  const copy = (copied: string, near: HTMLElement) =>
    void copyText(copied, near).then((isCopied) => notify(isCopied ? guardText.jump.copied(copied) : copied));
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const moves: Record<string, number> = { ArrowDown: active + 1, ArrowUp: active - 1 };
    const next = moves[event.key];
    const target = targets[active];
    const isCopy = event.key === "Enter" && (event.ctrlKey || event.metaKey);
    if (next !== undefined) setChosen(Math.max(0, Math.min(next, targets.length - 1)));
    else if (isCopy && command !== undefined) copy(command, event.currentTarget);
    else if (event.key === "Enter" && !isCopy && target) go(target);
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
        aria-label={guardText.jump.label}
        aria-expanded={targets.length > 0}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={targets.length > 0 ? `${listId}-${active}` : undefined}
        placeholder={guardText.jump.hint}
        value={text}
        onFocus={() => setText((before) => before + takeTypeAhead())}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id={listId} role="listbox" aria-label={guardText.jump.results} className="cc-jump">
        {groups.map((group) => (
          <div key={group.name} role="group" aria-label={guardText.jump.groups[group.name]}>
            <div className="cc-jump-group" aria-hidden>
              {guardText.jump.groups[group.name]}
            </div>
            {group.targets.map((target) => {
              const i = targets.indexOf(target);
              return (
                <Option
                  key={target.id}
                  id={`${listId}-${i}`}
                  target={target}
                  isActive={i === active}
                  onActive={() => setChosen(i)}
                  onPick={() => go(target)}
                />
              );
            })}
          </div>
        ))}
      </div>
      <Text role="status" size="sm" c="dimmed" ta="center" p={targets.length === 0 ? "md" : 0}>
        {targets.length === 0 && guardText.jump.nothing}
      </Text>
      {command !== undefined && (
        <div className="cc-jump-command">
          <span className="cc-mono">{command}</span>
          <Button
            variant="subtle"
            color="gray"
            size="compact-xs"
            onClick={({ currentTarget }) => copy(command, currentTarget)}
            rightSection={<Kbd size="xs">{guardText.jump.copyKeys}</Kbd>}
          >
            {guardText.jump.copyCommand}
          </Button>
        </div>
      )}
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
  const self = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isActive) self.current?.scrollIntoView({ block: "nearest" });
  }, [isActive]);
  return (
    <div
      ref={self}
      id={id}
      role="option"
      aria-selected={isActive}
      className="cc-jump-option"
      onPointerMove={onActive}
      onClick={onPick}
    >
      {platform ? <PlatformMark id={platform.id} /> : <Icon size={16} aria-hidden />}
      <span className="cc-jump-label">{label}</span>
      {about && <span className="cc-quiet">{about}</span>}
    </div>
  );
}
