import { Button, Icon, Tooltip } from '@patternfly/react-core';
import type { ComponentProps, ReactNode } from 'react';

interface IconWithReasonProps {
  icon: ReactNode;
  status: ComponentProps<typeof Icon>['status'];
  /** Shown on hover and on focus. */
  reason: ReactNode;
  /** The accessible name, required if `reason` is not text. */
  label?: string;
}

/** An icon with a reason that pointer, keyboard, touch and screen reader users can reach. */
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
