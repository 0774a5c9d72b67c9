import { Button, Icon, Tooltip } from '@patternfly/react-core';
import type { ComponentProps, ReactNode } from 'react';

interface IconWithReasonProps {
  icon: ReactNode;
  status: ComponentProps<typeof Icon>['status'];
  /** Shown on hover and on focus. */
  reason: ReactNode;
  /** What a screen reader says, when `reason` is no text. */
  label?: string;
}

/** An icon that says why, to a pointer, a keyboard, a finger and a screen reader. */
export function IconWithReason({ icon, status, reason, label }: IconWithReasonProps) {
  return (
    <Tooltip content={reason} aria="none">
      <Button
        variant="plain"
        size="sm"
        hasNoPadding
        aria-label={label ?? (typeof reason === 'string' ? reason : undefined)}
        icon={<Icon status={status}>{icon}</Icon>}
      />
    </Tooltip>
  );
}
