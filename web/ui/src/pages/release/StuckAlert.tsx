import { Alert, Button, Content, Flex } from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { recover, useSubmit, type Strategy } from '../../api/operations';
import type { Stuck } from '../../api/release';
import { Confirm } from '../../app/Confirm';
import { Moment } from '../../app/Moment';
import { paths, type ReleaseRef } from '../../app/paths';
import { useStatusWord } from '../../app/useStatusWord';

interface StuckAlertProps {
  release: ReleaseRef;
  stuck: Stuck;
  status: string;
}

/** Warns that the release is stuck and offers the recovery strategies. */
export function StuckAlert({ release, stuck, status }: StuckAlertProps) {
  const { t } = useTranslation('release');
  const word = useStatusWord();
  const [asked, setAsked] = useState<Strategy | null>(null);
  const submit = useSubmit((strategy: Strategy) => recover(release, strategy, stuck.resourceVersion));
  const { name } = release;
  return (
    <Alert isInline variant="warning" title={t(stuck.suspected ? 'stuck.suspected' : 'stuck.title', { status: word(status) })}>
      <Content component="p">
        {t(stuck.suspected ? 'stuck.suspectedBody' : 'stuck.body')} (<Moment time={stuck.since} />)
        {stuck.by && (
          <>
            {' '}
            <Link to={paths.events(release, stuck.by)}>{t('stuck.by')}</Link>
          </>
        )}
      </Content>
      <Flex gap={{ default: 'gapSm' }}>
        {stuck.strategies.map((strategy) => (
          <Button
            key={strategy}
            variant="secondary"
            isDanger={strategy === 'uninstall'}
            onClick={() => {
              submit.reset();
              setAsked(strategy);
            }}
          >
            {t(`stuck.strategies.${strategy}.button`)}
          </Button>
        ))}
      </Flex>
      {asked && (
        <Confirm
          title={t(`stuck.strategies.${asked}.title`, { name })}
          action={t(`stuck.strategies.${asked}.button`)}
          variant={asked === 'uninstall' ? 'danger' : 'primary'}
          isPending={submit.isPending}
          error={submit.error}
          release={release}
          onConfirm={() => {
            submit.mutate(asked);
          }}
          onClose={() => {
            setAsked(null);
          }}
        >
          <Content component="p">{t(`stuck.strategies.${asked}.body`)}</Content>
          {stuck.suspected && <Content component="p">{t('stuck.suspectedBody')}</Content>}
        </Confirm>
      )}
    </Alert>
  );
}
