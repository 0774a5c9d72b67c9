import { Button, Modal, ModalBody, ModalFooter, ModalHeader, Stack, StackItem, type ButtonProps } from '@patternfly/react-core';
import { useId, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ApiError } from '../api/client';
import type { ReleaseRef } from './paths';
import { Refusal } from './Refusal';

interface ConfirmProps {
  title: string;
  /** The label of the button that confirms. */
  action: string;
  variant?: ButtonProps['variant'];
  /** The label of the button that declines. */
  decline?: string;
  isPending: boolean;
  error: ApiError | null;
  release?: ReleaseRef;
  onConfirm: () => void;
  onClose: () => void;
  children: ReactNode;
}

/** Asks for confirmation before an action that cannot be undone. */
export function Confirm({ title, action, variant = 'danger', decline, isPending, error, release, onConfirm, onClose, children }: ConfirmProps) {
  const { t } = useTranslation('common');
  const id = useId();
  return (
    <Modal isOpen variant="small" onClose={onClose} aria-labelledby={`${id}-title`} aria-describedby={`${id}-body`}>
      <ModalHeader title={title} titleIconVariant={variant === 'danger' ? 'warning' : undefined} labelId={`${id}-title`} />
      <ModalBody id={`${id}-body`}>
        <Stack hasGutter>
          <StackItem>{children}</StackItem>
          {error && <Refusal error={error} release={release} />}
        </Stack>
      </ModalBody>
      <ModalFooter>
        <Button variant={variant} isLoading={isPending} isDisabled={isPending} onClick={onConfirm}>
          {action}
        </Button>
        <Button variant="link" onClick={onClose}>
          {decline ?? t('cancel')}
        </Button>
      </ModalFooter>
    </Modal>
  );
}
