import { Alert, Button, Content, Flex, FlexItem, Skeleton, Stack, StackItem } from '@patternfly/react-core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../../api/client';
import { useLineages } from '../../api/release';
import { exportTrail, useTrail, type TrailState } from '../../api/trail';
import { saveFile } from '../../app/handover';
import type { ReleaseRef } from '../../app/paths';
import { Refusal } from '../../app/Refusal';
import { formatMoment } from '../../i18n/format';
import { LineageChoice } from '../compare/LineageChoice';
import { RevisionModal } from './RevisionModal';
import { TrailTable } from './TrailTable';

interface TrailTabProps {
  release: ReleaseRef;
  /** A key of the release's state. A change refetches the trail. */
  known?: string;
}

/** The trail of a release, including former lineages, and the state of the chain. */
export function TrailTab({ release, known }: TrailTabProps) {
  const { t } = useTranslation('trail');
  const [lineage, setLineage] = useState<string>();
  const [verify, setVerify] = useState(false);
  const [shown, setShown] = useState<{ revision: number; lineage?: string } | null>(null);
  const lineages = useLineages(release).data ?? [];
  const { data, error, isFetching, refetch } = useTrail(release, { lineage, verify, known });
  const save = useMutation<Blob, ApiError>({
    mutationFn: () => exportTrail(release, lineage),
    onSuccess: async (blob) => {
      saveFile(`${release.name}-trail.ndjson`, [await blob.text()]);
    },
  });
  return (
    <Stack hasGutter>
      <StackItem>
        <Flex alignItems={{ default: 'alignItemsCenter' }}>
          <Button
            variant="secondary"
            isLoading={verify && isFetching}
            isDisabled={isFetching}
            onClick={() => {
              setVerify(true);
              if (verify) {
                void refetch();
              }
            }}
          >
            {t('verify')}
          </Button>
          <Button
            variant="link"
            isDisabled={save.isPending}
            onClick={() => {
              save.mutate();
            }}
          >
            {t('export')}
          </Button>
          <FlexItem>
            <LineageChoice label={t('lineage')} all={t('allLineages')} lineages={lineages} value={lineage} onChoose={setLineage} />
          </FlexItem>
        </Flex>
      </StackItem>
      {(error instanceof ApiError || save.error) && (
        <StackItem>
          <Refusal error={error instanceof ApiError ? error : (save.error as ApiError)} />
        </StackItem>
      )}
      {!data && !error && <Skeleton height="8rem" />}
      {data && (
        <>
          <StackItem>
            <Chain state={data.state} />
          </StackItem>
          <StackItem>
            {data.items.length === 0 ? <Content component="p">{t('empty')}</Content> : <TrailTable release={release} entries={data.items} onShow={setShown} />}
          </StackItem>
        </>
      )}
      {shown !== null && (
        <RevisionModal
          release={release}
          {...shown}
          onClose={() => {
            setShown(null);
          }}
        />
      )}
    </Stack>
  );
}

/** Shows whether the cluster's chain is intact, and its head. */
function Chain({ state: { verified, entries, head, checked, broken, problem } }: { state: TrailState }) {
  const { t, i18n } = useTranslation('trail');
  const when = formatMoment(Date.parse(checked), i18n.language);
  return (
    <Alert
      isInline
      variant={verified ? 'success' : 'danger'}
      title={verified ? t('chain.verified', { count: entries }) : t('chain.broken', { position: broken ?? '?' })}
    >
      <Stack>
        {problem && <StackItem>{problem}</StackItem>}
        <StackItem style={{ overflowWrap: 'anywhere' }}>{t('chain.head', { head: head || '–' })}</StackItem>
        <StackItem>{t('chain.checked', { when })}</StackItem>
      </Stack>
    </Alert>
  );
}
