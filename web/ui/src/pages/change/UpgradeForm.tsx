import { ActionGroup, Alert, Button, Form, FormGroup, Grid, GridItem, Skeleton, Stack } from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../../api/client';
import { useCharts, type ChartRef } from '../../api/charts';
import { upgrade, useSubmit, type Options } from '../../api/operations';
import { usePart } from '../../api/release';
import type { Release } from '../../api/releases';
import { ButtonLink } from '../../app/ButtonLink';
import { paths } from '../../app/paths';
import { Refusal } from '../../app/Refusal';
import { YamlEditor } from '../../editor';
import { OptionsForm } from '../../options/OptionsForm';
import { ChartChoice } from '../install/ChartChoice';
import { ChartReference } from '../install/ChartReference';

interface UpgradeFormProps {
  release: Release;
  helmVersion?: string;
}

/** Upgrades a release, from the values of its newest revision on. */
export function UpgradeForm({ release, helmVersion }: UpgradeFormProps) {
  const { t } = useTranslation(['change', 'common']);
  const [revision] = useState(release.revision);
  const current = usePart(release, revision, 'values');
  const charts = useCharts();
  // Records do not say where a chart came from: the one of its name in the list is a good guess.
  const guess = charts.data?.items.find(({ name }) => name === release.chart);
  const [chosen, setChosen] = useState<ChartRef | null>();
  const chart = chosen === undefined && guess ? refOf(guess) : (chosen ?? null);
  const [edited, setEdited] = useState<string | null>(null);
  const [options, setOptions] = useState<Options>({ wait: true });
  const submit = useSubmit((body: Parameters<typeof upgrade>[1]) => upgrade(release, body));
  const values = edited ?? current.data ?? '';
  if (current.isPending || charts.isPending) {
    return <Skeleton height="24rem" />;
  }
  return (
    <Form
      onSubmit={(event) => {
        event.preventDefault();
        if (chart) {
          submit.mutate({ chart, valuesYAML: values, options });
        }
      }}
    >
      {current.error instanceof ApiError && (
        <Alert isInline variant="warning" title={t('noValues', { revision })}>
          {current.error.message}
        </Alert>
      )}
      {release.revision !== revision && <Alert isInline variant="warning" title={t('changed', { revision: release.revision })} />}
      <Grid hasGutter>
        <GridItem lg={6}>
          <Stack hasGutter>
            <ChartChoice value={chart} onChange={setChosen} />
            <OptionsForm operation="upgrade" helmVersion={helmVersion} value={options} onChange={setOptions} />
          </Stack>
        </GridItem>
        <GridItem lg={6}>
          <Stack hasGutter>
            <FormGroup label={t('values', { revision })}>
              <YamlEditor label={t('values', { revision })} value={values} onChange={setEdited} height="20rem" />
            </FormGroup>
            <FormGroup label={t('reference')}>
              <ChartReference chart={chart} />
            </FormGroup>
          </Stack>
        </GridItem>
      </Grid>
      {submit.error && <Refusal error={submit.error} release={release} />}
      <ActionGroup>
        <Button type="submit" variant="primary" isDisabled={!chart || submit.isPending} isLoading={submit.isPending}>
          {t('upgrade')}
        </Button>
        <ButtonLink variant="link" to={paths.release(release)}>
          {t('common:cancel')}
        </ButtonLink>
      </ActionGroup>
    </Form>
  );
}

function refOf({ ref, repo, source, versions }: { ref: string; repo?: string; source: string; versions: { version: string }[] }): ChartRef {
  return source === 'repository' ? { ref, repo, version: versions[0]?.version } : { ref, repo };
}
