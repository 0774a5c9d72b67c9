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

/** Helm's status of a revision, as a word with an icon. A word that is not known is shown as it is. In a table it is compact, to stand on the line of the text beside it. */
export function ReleaseStatus({ status, isCompact }: { status: string; isCompact?: boolean }) {
  const word = useStatusWord();
  return (
    <Label variant="outline" isCompact={isCompact} {...(looks[status] ?? unknown)}>
      {word(status)}
    </Label>
  );
}
