import { Form, FormGroup, Grid, GridItem, Stack, StackItem, TextInput } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import { useHistory, useLineages } from '../../api/release';
import { useClusters } from '../../api/releases';
import type { ReleaseRef } from '../../app/paths';
import { ClusterChoice } from './ClusterChoice';
import { LineageChoice } from './LineageChoice';
import { ReleaseChoice } from './ReleaseChoice';
import { RevisionChoice } from './RevisionChoice';
import type { Selection } from './useSelection';

interface ChoicesProps {
  release: ReleaseRef;
  selection: Selection;
  /** The revisions that are compared by default. */
  from?: number;
  to?: number;
  onSelect: (change: Partial<Selection>) => void;
}

/** Selects both sides: a revision of any release, and a revision of this release. */
export function Choices({ release, selection, from, to, onSelect }: ChoicesProps) {
  const { t } = useTranslation('compare');
  const other: ReleaseRef = {
    cluster: selection.fromCluster ?? release.cluster,
    namespace: selection.fromNamespace ?? release.namespace,
    name: selection.fromRelease ?? release.name,
  };
  const clusters = useClusters().data?.length ?? 1;
  const before = useHistory(other, undefined, selection.fromLineage).data ?? [];
  const after = useHistory(release, undefined, selection.toLineage).data ?? [];
  const livesBefore = useLineages(other).data ?? [];
  const livesAfter = useLineages(release).data ?? [];
  const chooseOther = ({ cluster, namespace, name }: ReleaseRef) => {
    onSelect({
      fromCluster: cluster === release.cluster ? undefined : cluster,
      fromNamespace: namespace === release.namespace ? undefined : namespace,
      fromRelease: name === release.name ? undefined : name,
      fromLineage: undefined,
      from: undefined,
    });
  };
  return (
    <Form>
      <Grid hasGutter>
        <GridItem md={6}>
          <FormGroup role="group" label={t('from')} fieldId="compare-from">
            <Stack hasGutter>
              {(clusters > 1 || other.cluster !== release.cluster) && (
                <StackItem>
                  <ClusterChoice
                    cluster={other.cluster}
                    onChoose={(cluster) => {
                      chooseOther({ ...other, cluster });
                    }}
                  />
                </StackItem>
              )}
              <StackItem>
                <ReleaseChoice
                  release={other}
                  onChoose={(chosen) => {
                    chooseOther({ ...other, ...chosen });
                  }}
                />
              </StackItem>
              <LineageChoice
                label={t('lineage.from')}
                lineages={livesBefore}
                value={selection.fromLineage}
                onChoose={(fromLineage) => {
                  onSelect({ fromLineage, from: undefined });
                }}
              />
              <StackItem>
                <RevisionChoice
                  label={t('from')}
                  revisions={before}
                  value={selection.from ?? from}
                  onChoose={(revision) => {
                    onSelect({ from: revision });
                  }}
                />
              </StackItem>
            </Stack>
          </FormGroup>
        </GridItem>
        <GridItem md={6}>
          <FormGroup role="group" label={t('to')} fieldId="compare-to">
            <Stack hasGutter>
              {(clusters > 1 || other.cluster !== release.cluster) && (
                <StackItem>
                  <TextInput readOnlyVariant="default" aria-label={t('cluster')} value={release.cluster} />
                </StackItem>
              )}
              <StackItem>
                <TextInput readOnlyVariant="default" aria-label={t('thisRelease')} value={`${release.namespace}/${release.name}`} />
              </StackItem>
              <LineageChoice
                label={t('lineage.to')}
                lineages={livesAfter}
                value={selection.toLineage}
                onChoose={(toLineage) => {
                  onSelect({ toLineage, to: undefined });
                }}
              />
              <StackItem>
                <RevisionChoice
                  label={t('to')}
                  revisions={after}
                  value={selection.to ?? to}
                  onChoose={(revision) => {
                    onSelect({ to: revision });
                  }}
                />
              </StackItem>
            </Stack>
          </FormGroup>
        </GridItem>
      </Grid>
    </Form>
  );
}
