import { Label } from '@patternfly/react-core';
import { ArchiveIcon, InProgressIcon, QuestionCircleIcon, TrashIcon } from '@patternfly/react-icons';
import type { ComponentProps } from 'react';
import { useStatusWord } from './useStatusWord';

type Look = Pick<ComponentProps<typeof Label>, 'status' | 'color' | 'icon'>;

const unknown: Look = { color: 'grey', icon: <QuestionCircleIcon /> };

const looks: Record<string, Look> = {
  deployed: { status: 'success' },
  failed: { status: 'danger' },
  'pending-install': { color: 'blue', icon: <InProgressIcon /> },
  'pending-upgrade': { color: 'blue', icon: <InProgressIcon /> },
  'pending-rollback': { color: 'blue', icon: <InProgressIcon /> },
  uninstalling: { color: 'blue', icon: <InProgressIcon /> },
  superseded: { color: 'grey', icon: <ArchiveIcon /> },
  uninstalled: { color: 'grey', icon: <TrashIcon /> },
};

/** Helm's status of a revision as a label with an icon. An unknown status is shown unchanged. Tables use the compact form, which aligns with text. */
export function ReleaseStatus({ status, isCompact }: { status: string; isCompact?: boolean }) {
  const word = useStatusWord();
  return (
    <Label variant="outline" isCompact={isCompact} {...(looks[status] ?? unknown)}>
      {word(status)}
    </Label>
  );
}
