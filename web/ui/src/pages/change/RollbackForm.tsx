import { ActionGroup, Button, Content, Form, FormGroup, Skeleton, Title } from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../../api/client';
import { rollback, useSubmit, type Options } from '../../api/operations';
import { useDiff, useHistory } from '../../api/release';
import type { Release } from '../../api/releases';
import { ButtonLink } from '../../app/ButtonLink';
import { paths } from '../../app/paths';
import { Refusal } from '../../app/Refusal';
import { DiffView } from '../../diff/DiffView';
import { usualLayout } from '../../diff/TextDiff';
import { OptionsForm } from '../../options/OptionsForm';
import { RevisionChoice } from '../compare/RevisionChoice';

interface RollbackFormProps {
  release: Release;
  helmVersion?: string;
  /** The target revision. */
  to: number;
  onTo: (revision: number) => void;
}

/** The rollback form. It shows the changes before the rollback. */
export function RollbackForm({ release, helmVersion, to, onTo }: RollbackFormProps) {
  const { t } = useTranslation(['change', 'common']);
  const [options, setOptions] = useState<Options>({ wait: true });
  const history = useHistory(release, release.revision);
  const diff = useDiff(release, { from: release.revision, to });
  const submit = useSubmit((all: Options) => rollback(release, { revision: to, options: all }));
  const earlier = (history.data ?? []).filter(({ revision, gone }) => revision !== release.revision && !gone);
  // Another operation may be running: continuing needs another confirmation.
  const pending = submit.error?.code === 'pending';
  if (history.data && earlier.length === 0) {
    return <Content component="p">{t('nothingEarlier')}</Content>;
  }
  const known = earlier.some(({ revision }) => revision === to);
  return (
    <Form
      onSubmit={(event) => {
        event.preventDefault();
        submit.mutate(pending ? { ...options, overridePending: true } : options);
      }}
    >
      <FormGroup label={t('goBackTo')} fieldId="rollback-to">
        <RevisionChoice label={t('revision')} revisions={earlier} value={known ? to : undefined} onChoose={onTo} />
      </FormGroup>
      <div>
        <OptionsForm operation="rollback" helmVersion={helmVersion} value={options} onChange={setOptions} />
      </div>
      <Title headingLevel="h2" size="lg">
        {t('wouldChange')}
      </Title>
      {diff.error instanceof ApiError && <Refusal error={diff.error} />}
      {diff.data ? <DiffView diff={diff.data} layout={usualLayout()} /> : !diff.error && <Skeleton height="8rem" />}
      {submit.error && <Refusal error={submit.error} release={release} />}
      <ActionGroup>
        <Button type="submit" variant={pending ? 'danger' : 'primary'} isDisabled={!known || submit.isPending} isLoading={submit.isPending}>
          {t(pending ? 'rollbackOverride' : 'rollback')}
        </Button>
        <ButtonLink variant="link" to={paths.release(release)}>
          {t('common:cancel')}
        </ButtonLink>
      </ActionGroup>
    </Form>
  );
}
