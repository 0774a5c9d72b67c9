import { Button, Content } from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Confirm } from './Confirm';

interface RevealButtonProps {
  revealed: boolean;
  onReveal: (reveal: boolean) => void;
}

/** Reveals secrets after a confirmation that says that the access is recorded. */
export function RevealButton({ revealed, onReveal }: RevealButtonProps) {
  const { t } = useTranslation('compare');
  const [asking, setAsking] = useState(false);
  return (
    <>
      <Button
        variant="secondary"
        onClick={() => {
          if (revealed) {
            onReveal(false);
          } else {
            setAsking(true);
          }
        }}
      >
        {t(revealed ? 'reveal.hide' : 'reveal.button')}
      </Button>
      {asking && (
        <Confirm
          title={t('reveal.title')}
          action={t('reveal.confirm')}
          variant="primary"
          isPending={false}
          error={null}
          onConfirm={() => {
            setAsking(false);
            onReveal(true);
          }}
          onClose={() => {
            setAsking(false);
          }}
        >
          <Content component="p">{t('reveal.body')}</Content>
        </Confirm>
      )}
    </>
  );
}
