import { Content, Skeleton, Tab, Tabs, TabTitleText } from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../../api/client';
import { useChart, type ChartRef, type ChartScope } from '../../api/charts';
import { Refusal } from '../../app/Refusal';
import { YamlEditor } from '../../editor';

/** Shows the chart's default values, README and schema. */
export function ChartReference({ chart, scope }: { chart: ChartRef | null; scope: ChartScope }) {
  const { t } = useTranslation('install');
  const [tab, setTab] = useState<string | number>('values');
  const { data, error, isFetching } = useChart(chart, scope);
  if (chart === null) {
    return <Content component="p">{t('reference.none')}</Content>;
  }
  if (chart.credentialsSecret !== undefined) {
    return <Content component="p">{t('reference.credentials')}</Content>;
  }
  if (error instanceof ApiError) {
    return <Refusal error={error} />;
  }
  if (!data || isFetching) {
    return <Skeleton height="24rem" screenreaderText={t('reference.loading')} />;
  }
  const schema = data.schema ? JSON.stringify(data.schema, null, 2) : '';
  return (
    <Tabs
      activeKey={tab}
      mountOnEnter
      unmountOnExit
      aria-label={t('reference.label')}
      onSelect={(_, key) => {
        setTab(key);
      }}
    >
      <Tab eventKey="values" title={<TabTitleText>{t('reference.values')}</TabTitleText>}>
        <YamlEditor label={t('reference.values')} value={data.values} />
      </Tab>
      {data.readme !== '' && (
        <Tab eventKey="readme" title={<TabTitleText>{t('reference.readme')}</TabTitleText>}>
          <YamlEditor label={t('reference.readme')} value={data.readme} plain />
        </Tab>
      )}
      {schema !== '' && (
        <Tab eventKey="schema" title={<TabTitleText>{t('reference.schema')}</TabTitleText>}>
          <YamlEditor label={t('reference.schema')} value={schema} />
        </Tab>
      )}
    </Tabs>
  );
}
