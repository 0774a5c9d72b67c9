import { Button, Checkbox, Content, Form, FormGroup, FormSelect, FormSelectOption, type ButtonProps } from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { uninstall, useSubmit, type UninstallOptions } from '../api/operations';
import { Confirm } from './Confirm';
import type { ReleaseRef } from './paths';

const CASCADES = ['background', 'foreground', 'orphan'] as const;

interface UninstallButtonProps extends Pick<ButtonProps, 'variant' | 'isInline'> {
  release: ReleaseRef;
}

/** Uninstalls a release after a confirmation, then opens its events page. */
export function UninstallButton({ release, ...look }: UninstallButtonProps) {
  const { t } = useTranslation('common');
  const [open, setOpen] = useState(false);
  const { name } = release;
  return (
    <>
      <Button
        isDanger
        {...look}
        aria-label={t('uninstall.label', { name })}
        onClick={() => {
          setOpen(true);
        }}
      >
        {t('uninstall.button')}
      </Button>
      {open && (
        <ConfirmUninstall
          release={release}
          onClose={() => {
            setOpen(false);
          }}
        />
      )}
    </>
  );
}

function ConfirmUninstall({ release, onClose }: { release: ReleaseRef; onClose: () => void }) {
  const { t } = useTranslation('common');
  const [options, setOptions] = useState<UninstallOptions>({});
  const submit = useSubmit((all: UninstallOptions) => uninstall(release, all));
  const { name } = release;
  // Another operation may be running: continuing needs another confirmation.
  const pending = submit.error?.code === 'pending';
  return (
    <Confirm
      title={t('uninstall.title', { name })}
      action={t(pending ? 'uninstall.override' : 'uninstall.button')}
      isPending={submit.isPending}
      error={submit.error}
      release={release}
      onConfirm={() => {
        submit.mutate(pending ? { ...options, overridePending: true } : options);
      }}
      onClose={onClose}
    >
      <Form
        onSubmit={(event) => {
          event.preventDefault();
        }}
      >
        <Content component="p">{t('uninstall.body', { namespace: release.namespace })}</Content>
        <Checkbox
          id="uninstall-keep"
          label={t('uninstall.keepHistory')}
          description={t('uninstall.keepHistoryHelp')}
          isChecked={options.keepHistory ?? false}
          onChange={(_, keepHistory) => {
            setOptions({ ...options, keepHistory });
          }}
        />
        <Checkbox
          id="uninstall-hooks"
          label={t('uninstall.noHooks')}
          isChecked={options.noHooks ?? false}
          onChange={(_, noHooks) => {
            setOptions({ ...options, noHooks });
          }}
        />
        <FormGroup label={t('uninstall.cascade')} fieldId="uninstall-cascade">
          <FormSelect
            id="uninstall-cascade"
            value={options.cascade ?? 'background'}
            onChange={(_, value) => {
              setOptions({ ...options, cascade: CASCADES.find((cascade) => cascade === value) });
            }}
          >
            {CASCADES.map((cascade) => (
              <FormSelectOption key={cascade} value={cascade} label={t(`uninstall.cascades.${cascade}`)} />
            ))}
          </FormSelect>
        </FormGroup>
      </Form>
    </Confirm>
  );
}
