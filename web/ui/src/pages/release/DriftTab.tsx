import { Alert, Button, Content, ExpandableSection, Flex, Label, Skeleton, Stack, StackItem, type LabelProps } from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../../api/client';
import { useDrift, type DriftObject } from '../../api/drift';
import type { Release } from '../../api/releases';
import { FoldTitle } from '../../app/FoldTitle';
import { Refusal } from '../../app/Refusal';
import { useServerWords } from '../../i18n/serverWords';
import { FieldChanges } from '../../diff/FieldChanges';

/** Shows how the objects in the cluster differ from the release's record. */
export function DriftTab({ release }: { release: Release }) {
  const { t } = useTranslation('drift');
  const { data, error, isFetching, refetch } = useDrift(release, release.revision);
  const differing = data?.objects.filter(({ state, added }) => state !== 'same' || added.length > 0) ?? [];
  const same = data?.objects.filter(({ state, added }) => state === 'same' && added.length === 0) ?? [];
  return (
    <Stack hasGutter>
      <StackItem>
        <Flex alignItems={{ default: 'alignItemsCenter' }}>
          <span>{t('about', { revision: data?.revision ?? release.revision })}</span>
          <Button variant="secondary" isLoading={isFetching} isDisabled={isFetching} onClick={() => void refetch()}>
            {t('again')}
          </Button>
        </Flex>
      </StackItem>
      {error instanceof ApiError && (
        <StackItem>
          <Refusal error={error} />
        </StackItem>
      )}
      {!data && !error && <Skeleton height="8rem" screenreaderText={t('comparing')} />}
      {data && (
        <>
          <StackItem>
            <Alert isInline variant={data.drifted ? 'warning' : 'success'} title={t(data.drifted ? 'drifted' : 'none', { revision: data.revision })} />
          </StackItem>
          {data.unlisted.length > 0 && (
            <StackItem>
              <Alert isInline variant="info" title={t('unlisted', { kinds: data.unlisted.join(', ') })} />
            </StackItem>
          )}
          <StackItem>
            {differing.map((object) => (
              <ObjectDrift key={keyOf(object)} object={object} />
            ))}
            {same.length > 0 && (
              <ExpandableSection toggleText={t('same', { count: same.length })} isIndented>
                {same.map((object) => (
                  <Content component="p" key={keyOf(object)}>
                    {nameOf(object)}
                  </Content>
                ))}
              </ExpandableSection>
            )}
          </StackItem>
        </>
      )}
    </Stack>
  );
}

const keyOf = ({ apiVersion, kind, namespace, name }: DriftObject) => `${apiVersion} ${kind} ${namespace} ${name}`;
const nameOf = ({ kind, namespace, name }: DriftObject) => `${kind} ${[namespace, name].filter(Boolean).join('/')}`;

const looks: Record<DriftObject['state'], Pick<LabelProps, 'status' | 'color'>> = {
  same: { status: 'success' },
  changed: { status: 'warning' },
  missing: { status: 'danger' },
  extra: { color: 'blue' },
  unknown: { color: 'grey' },
};

function ObjectDrift({ object }: { object: DriftObject }) {
  const { t } = useTranslation('drift');
  const words = useServerWords();
  const { state, changes, added } = object;
  const message = object.message && (words?.note(object.note, object) ?? object.message);
  const [expanded, setExpanded] = useState(state === 'changed');
  const name = nameOf(object);
  const title = (
    <FoldTitle name={name}>
      <Label isCompact variant="outline" {...looks[state]}>
        {t(`states.${state}`)}
      </Label>
    </FoldTitle>
  );
  return (
    <ExpandableSection
      isExpanded={expanded}
      isIndented
      toggleContent={title}
      onToggle={(_, next) => {
        setExpanded(next);
      }}
    >
      {message && <Content component="p">{message}</Content>}
      {!message && changes.length === 0 && added.length === 0 && <Content component="p">{t(`help.${state}`)}</Content>}
      {changes.length > 0 && <FieldChanges as="drift" label={t('changesOf', { name })} changes={changes} />}
      {added.length > 0 && (
        <>
          <Content component="small">{t('added')}</Content>
          <FieldChanges as="drift" label={t('addedTo', { name })} changes={added} />
        </>
      )}
    </ExpandableSection>
  );
}
