import { Button, Content } from '@patternfly/react-core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ApiError } from '../../api/client';
import { cancel } from '../../api/operations';
import { Confirm } from '../../app/Confirm';
import type { ReleaseRef } from '../../app/paths';
import type { SessionState } from '../../session/state';

/** Cancels the operation after a confirmation. A second click force stops Helm. */
export function CancelButton({ release, session }: { release: ReleaseRef; session: SessionState }) {
  const { t } = useTranslation('events');
  const [open, setOpen] = useState(false);
  const { mutate, isPending, isSuccess, error, reset } = useMutation<unknown, ApiError, boolean>({
    mutationFn: (force) => cancel(release, session.sessionId, force),
    onSuccess: () => {
      setOpen(false);
    },
  });
  if (session.started?.origin !== 'helmtrail' || session.end) {
    return null;
  }
  const { operation } = session.started;
  const { name } = release;
  const force = isSuccess || session.clock?.phase === 'canceling';
  // Helm records its result after a signal only in these two operations.
  const clean = operation === 'install' || operation === 'upgrade';
  return (
    <>
      <Button
        variant={force ? 'danger' : 'secondary'}
        isDanger={!force}
        onClick={() => {
          if (error) {
            reset();
          }
          setOpen(true);
        }}
      >
        {t(force ? 'cancel.forceButton' : 'cancel.button')}
      </Button>
      {open && (
        <Confirm
          title={t(force ? 'cancel.forceTitle' : `cancel.title.${operation}`, { name })}
          action={t(force ? 'cancel.forceConfirm' : 'cancel.confirm')}
          decline={t('cancel.keep')}
          isPending={isPending}
          error={error}
          onConfirm={() => {
            mutate(force);
          }}
          onClose={() => {
            setOpen(false);
          }}
        >
          <Content component="p">{t(force ? 'cancel.forceBody' : 'cancel.resourcesStay')}</Content>
          {!force && !clean && <Content component="p">{t('cancel.stuckAfter', { name })}</Content>}
        </Confirm>
      )}
    </>
  );
}
